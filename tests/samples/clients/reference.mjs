// Runs the samples of the API reference for Node.js, and prints what each of them did as a line of JSON: nothing, the API's error, or the
// fault of the sample.

import { readFileSync } from "node:fs";
import { Mailmill, MailmillError } from "mailmill";

const { samples, projectId } = JSON.parse(readFileSync("samples.json", "utf8"));
const mailmill = new Mailmill({ maxRetries: 0 });
const file = new Blob(["email\nada@example.com\n"]);
const silent = { log() {} };
const AsyncFunction = (async () => {}).constructor;
for (const sample of samples) {
  let outcome = {};
  try {
    await new AsyncFunction("mailmill", "file", "projectId", "console", sample)(mailmill, file, projectId, silent);
  } catch (error) {
    const isAnswer = error instanceof MailmillError && error.status !== undefined;
    outcome = isAnswer ? { status: error.status, code: error.code, message: error.message } : { fault: error.stack ?? String(error) };
  }
  console.log(JSON.stringify(outcome));
}
