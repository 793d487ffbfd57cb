export const pythonSources = () => ({});
