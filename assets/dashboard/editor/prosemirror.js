export { EditorState, Plugin, TextSelection } from "prosemirror-state";
export { EditorView } from "prosemirror-view";
export { Schema, Node } from "prosemirror-model";
export { keymap } from "prosemirror-keymap";
export { baseKeymap, toggleMark, chainCommands } from "prosemirror-commands";
