// Compiled under `strict` as an ES module and as CommonJS: the types that users see.

import { Mailmill, MailmillError, List, webhooks, type ContactView, type ContactsCreateParams, type WaitOptions, type GenerationStatus } from "mailmill";

export async function use(file: AsyncIterable<Uint8Array>): Promise<void> {
  const mailmill = new Mailmill({ apiKey: "k", baseUrl: "https://mail.example.com", maxRetries: 1 });
  const params: ContactsCreateParams = { projectId: "1", email: "ada@example.com", firstName: null, customFields: { plan: "pro", seats: 3 } };
  const contact: ContactView = await mailmill.contacts.create(params, { idempotencyKey: "k", signal: AbortSignal.timeout(1) });
  const email: string = contact.email;
  const list: List<unknown, ContactView> = mailmill.contacts.list({ projectId: "1", status: "subscribed" });
  for await (const one of list) console.log(one.tags, email);
  const { total } = await mailmill.contacts.list({ projectId: "1" });
  const count: number = total;
  const options: WaitOptions<GenerationStatus> = { onProgress: (status) => console.log(status.progress.percentage, count) };
  const generation = await mailmill.emails.generateAndWait({ projectId: "1", prompt: "Hello" }, options);
  console.log(generation.result.emails[0]?.html.length, generation.error?.length);
  const link: string = (await mailmill.contacts.exportAndWait({ projectId: "1" })).downloadUrl;
  await mailmill.contacts.imports.create({ projectId: "1", file });
  await mailmill.projects.images.upload("1", { file: new Uint8Array() });
  const html: string = await mailmill.emails.html("1");
  const png: Uint8Array = await mailmill.inbox.screenshot("1");
  const event = webhooks.verify(html, new Headers(), "whsec_", { tolerance: png.length });
  console.log(event.type);
  try {
    await mailmill.campaigns.send("1");
  } catch (error) {
    if (error instanceof MailmillError) console.log(error.field?.length, error.retryAfter?.toFixed(), error.data["id"], link);
  }
  // @ts-expect-error: the email is required.
  await mailmill.contacts.create({ projectId: "1" });
  // @ts-expect-error: no operation has this field.
  await mailmill.contacts.create({ projectId: "1", email: "a@example.com", emial: "a@example.com" });
  // @ts-expect-error: the status is one of four words.
  await mailmill.contacts.list({ projectId: "1", status: "gone" });
  // @ts-expect-error: internal.
  await mailmill._send("GET", "/projects");
}
