"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.Mailmill = exports.Webhooks = exports.WebhooksDeliveries = exports.ScheduledImports = exports.IncomingWebhooks = exports.MailServices = exports.Campaigns = exports.Inbox = exports.Plan = exports.Metrics = exports.Sends = exports.SendsBatches = exports.Suppressions = exports.Segments = exports.Topics = exports.Tags = exports.Events = exports.Storefront = exports.Connections = exports.Contacts = exports.ContactsJobs = exports.ContactsExports = exports.ContactsImports = exports.ContactsBulkChanges = exports.ContactsBulk = exports.Exports = exports.Previews = exports.PreviewsDevices = exports.Validation = exports.SavedBlocks = exports.Emails = exports.EmailsDesigns = exports.EmailsChecks = exports.EmailsVersions = exports.EmailsEdits = exports.Domains = exports.Projects = exports.ProjectsProducts = exports.ProjectsImages = exports.ProjectsKnowledge = exports.ProjectsImports = void 0;
const core_js_1 = require("./core.js");
const at = core_js_1.path;
class ProjectsImports extends core_js_1.Resource {
 create(p, o) {
  return this._post("/projects/import", p, o, { keyed: true });
 }
 get(projectId, o) {
  return this._get(at `/projects/import/${projectId}/status`, undefined, o);
 }
 retry(projectId, o) {
  return this._post(at `/projects/import/${projectId}/retry`, undefined, o, { keyed: true });
 }
 changes(projectId, o) {
  return this._get(at `/projects/import/${projectId}/changes`, undefined, o);
 }
 decide(projectId, p, o) {
  return this._post(at `/projects/import/${projectId}/changes`, p, o);
 }
}
exports.ProjectsImports = ProjectsImports;
class ProjectsKnowledge extends core_js_1.Resource {
 list(projectId, p, o) {
  return this._list(at `/projects/${projectId}/knowledge-base`, { items: "entries", by: "offset" }, p, o);
 }
 create(projectId, p, o) {
  return this._post(at `/projects/${projectId}/knowledge-base`, p, o, { keyed: true });
 }
 get(projectId, entryId, o) {
  return this._get(at `/projects/${projectId}/knowledge-base/${entryId}`, undefined, o);
 }
 update(projectId, entryId, p, o) {
  return this._put(at `/projects/${projectId}/knowledge-base/${entryId}`, p, o);
 }
 delete(projectId, entryId, o) {
  return this._delete(at `/projects/${projectId}/knowledge-base/${entryId}`, undefined, o);
 }
}
exports.ProjectsKnowledge = ProjectsKnowledge;
class ProjectsImages extends core_js_1.Resource {
 list(projectId, p, o) {
  return this._list(at `/projects/${projectId}/images`, { items: "images", by: "offset" }, p, o);
 }
 create(projectId, p, o) {
  return this._post(at `/projects/${projectId}/images`, p, o, { keyed: true });
 }
 update(projectId, p, o) {
  return this._put(at `/projects/${projectId}/images`, p, o);
 }
 delete(projectId, p, o) {
  return this._delete(at `/projects/${projectId}/images`, p, o);
 }
 upload(projectId, p, o) {
  return this._post(at `/projects/${projectId}/images/upload`, p, o, { keyed: true, base64: "file" });
 }
 preview(projectId, p, o) {
  return this._get(at `/projects/${projectId}/images/preview`, p, o, { answer: "bytes" });
 }
}
exports.ProjectsImages = ProjectsImages;
class ProjectsProducts extends core_js_1.Resource {
 list(projectId, p, o) {
  return this._list(at `/projects/${projectId}/products`, { items: "products", by: "offset" }, p, o);
 }
 create(projectId, p, o) {
  return this._post(at `/projects/${projectId}/products`, p, o, { keyed: true });
 }
 update(projectId, productId, p, o) {
  return this._patch(at `/projects/${projectId}/products/${productId}`, p, o);
 }
 delete(projectId, productId, o) {
  return this._delete(at `/projects/${projectId}/products/${productId}`, undefined, o);
 }
 merge(projectId, productId, p, o) {
  return this._post(at `/projects/${projectId}/products/${productId}/merge`, p, o, { keyed: true });
 }
}
exports.ProjectsProducts = ProjectsProducts;
class Projects extends core_js_1.Resource {
 imports = new ProjectsImports(this._client);
 knowledge = new ProjectsKnowledge(this._client);
 images = new ProjectsImages(this._client);
 products = new ProjectsProducts(this._client);
 list(p, o) {
  return this._list("/projects", { items: "projects", by: "offset" }, p, o);
 }
 get(projectId, o) {
  return this._get(at `/projects/${projectId}`, undefined, o);
 }
 update(projectId, p, o) {
  return this._patch(at `/projects/${projectId}`, p, o);
 }
 updateLogos(projectId, p, o) {
  return this._put(at `/projects/${projectId}/logos`, p, o);
 }
 updateGuidelines(projectId, p, o) {
  return this._put(at `/projects/${projectId}/brand-guidelines`, p, o);
 }
 references(projectId, o) {
  return this._get(at `/projects/${projectId}/references`, undefined, o);
 }
 previewTheme(projectId, p, o) {
  return this._get(at `/projects/${projectId}/theme-preview`, p, o, { answer: "text" });
 }
 importAndWait(p, o) {
  return this._wait((o) => this._client.projects.imports.create(p, o), (started, o) => this._client.projects.imports.get(started.projectId, o), { done: ["active"], failed: ["error"], fields: [] }, o);
 }
}
exports.Projects = Projects;
class Domains extends core_js_1.Resource {
 list(p, o) {
  return this._list("/domains", { by: "offset" }, p, o);
 }
 create(p, o) {
  return this._post("/domains", p, o, { keyed: true });
 }
 createStream(p, o) {
  return this._post("/domains/streams", p, o, { keyed: true });
 }
 setup(p, o) {
  return this._post("/domains/setup", p, o, { keyed: true });
 }
 get(domain, o) {
  return this._get(at `/domains/${domain}`, undefined, o);
 }
 update(domain, p, o) {
  return this._patch(at `/domains/${domain}`, p, o);
 }
 delete(domain, o) {
  return this._delete(at `/domains/${domain}`, undefined, o);
 }
 verify(domain, o) {
  return this._post(at `/domains/${domain}/verify`, undefined, o);
 }
 rotate(domain, o) {
  return this._post(at `/domains/${domain}/rotate`, undefined, o, { keyed: true });
 }
}
exports.Domains = Domains;
class EmailsEdits extends core_js_1.Resource {
 create(emailId, p, o) {
  return this._post(at `/emails/${emailId}/edit`, p, o, { keyed: true });
 }
 get(emailId, editId, o) {
  return this._get(at `/emails/${emailId}/edits/${editId}`, undefined, o);
 }
 save(emailId, editId, p, o) {
  return this._post(at `/emails/${emailId}/edits/${editId}/save`, p, o, { keyed: true });
 }
}
exports.EmailsEdits = EmailsEdits;
class EmailsVersions extends core_js_1.Resource {
 list(emailId, p, o) {
  return this._list(at `/emails/${emailId}/versions`, { items: "versions", by: "offset" }, p, o);
 }
 restore(emailId, version, p, o) {
  return this._post(at `/emails/${emailId}/versions/${version}/restore`, p, o, { keyed: true });
 }
}
exports.EmailsVersions = EmailsVersions;
class EmailsChecks extends core_js_1.Resource {
 get(emailId, p, o) {
  return this._get(at `/emails/${emailId}/checks`, p, o);
 }
 run(emailId, p, o) {
  return this._post(at `/emails/${emailId}/checks`, p, o, { keyed: true });
 }
 ignore(emailId, findingId, p, o) {
  return this._put(at `/emails/${emailId}/checks/${findingId}/ignored`, p, o);
 }
 fix(emailId, findingId, p, o) {
  return this._post(at `/emails/${emailId}/checks/${findingId}/fix`, p, o, { keyed: true });
 }
}
exports.EmailsChecks = EmailsChecks;
class EmailsDesigns extends core_js_1.Resource {
 list(o) {
  return this._get("/emails/designs", undefined, o);
 }
 html(design, p, o) {
  return this._get(at `/emails/designs/${design}/html`, p, o, { answer: "text" });
 }
}
exports.EmailsDesigns = EmailsDesigns;
class Emails extends core_js_1.Resource {
 edits = new EmailsEdits(this._client);
 versions = new EmailsVersions(this._client);
 checks = new EmailsChecks(this._client);
 designs = new EmailsDesigns(this._client);
 brief(p, o) {
  return this._post("/projects/emails/brief", p, o);
 }
 addToBrief(emailId, p, o) {
  return this._post(at `/emails/${emailId}/brief`, p, o);
 }
 generate(p, o) {
  return this._post("/projects/emails/generate", p, o, { keyed: true });
 }
 importHtml(p, o) {
  return this._post("/projects/emails/import-html", p, o, { keyed: true });
 }
 status(conversationId, p, o) {
  return this._get(at `/projects/emails/${conversationId}/status`, p, o);
 }
 list(p, o) {
  return this._list("/projects/emails", { items: "emails", by: "offset" }, p, o);
 }
 get(emailId, p, o) {
  return this._get(at `/emails/${emailId}`, p, o);
 }
 create(p, o) {
  return this._post("/emails", p, o, { keyed: true });
 }
 updateDocument(emailId, p, o) {
  return this._patch(at `/emails/${emailId}/document`, p, o, { keyed: true });
 }
 favorite(emailId, p, o) {
  return this._put(at `/emails/${emailId}/favorite`, p, o);
 }
 html(emailId, p, o) {
  return this._get(at `/emails/${emailId}/html`, p, o, { answer: "text" });
 }
 metrics(emailId, p, o) {
  return this._get(at `/emails/${emailId}/metrics`, p, o);
 }
 logs(emailId, p, o) {
  return this._list(at `/emails/${emailId}/logs`, { items: "emails", by: "cursor" }, p, o);
 }
 send(p, o) {
  return this._post("/sending", p, o, { keyed: true });
 }
 sendTest(p, o) {
  return this._post("/emails/test/send", p, o, { keyed: true });
 }
 generateAndWait(p, o) {
  return this._wait((o) => this._client.emails.generate(p, o), (started, o) => this._client.emails.status(started.conversationId, undefined, o), { done: ["completed"], failed: ["failed"], fields: ["result"] }, o);
 }
 importHtmlAndWait(p, o) {
  return this._wait((o) => this._client.emails.importHtml(p, o), (started, o) => this._client.emails.status(started.conversationId, undefined, o), { done: ["completed"], failed: ["failed"], fields: ["result"] }, o);
 }
}
exports.Emails = Emails;
class SavedBlocks extends core_js_1.Resource {
 list(projectId, p, o) {
  return this._list(at `/projects/${projectId}/blocks`, { items: "blocks", by: "offset" }, p, o);
 }
 create(projectId, p, o) {
  return this._post(at `/projects/${projectId}/blocks`, p, o, { keyed: true });
 }
 update(projectId, blockId, p, o) {
  return this._patch(at `/projects/${projectId}/blocks/${blockId}`, p, o);
 }
 delete(projectId, blockId, o) {
  return this._delete(at `/projects/${projectId}/blocks/${blockId}`, undefined, o);
 }
}
exports.SavedBlocks = SavedBlocks;
class Validation extends core_js_1.Resource {
 compatibility(p, o) {
  return this._post("/emails/validate/compatibility", p, o);
 }
 links(p, o) {
  return this._post("/emails/validate/links", p, o);
 }
 spelling(p, o) {
  return this._post("/emails/validate/spelling", p, o);
 }
 deliverability(p, o) {
  return this._post("/emails/validate/deliverability", p, o);
 }
 all(p, o) {
  return this._post("/emails/validate/all", p, o);
 }
}
exports.Validation = Validation;
class PreviewsDevices extends core_js_1.Resource {
 get(previewId, deviceKey, o) {
  return this._get(at `/emails/previews/${previewId}/devices/${deviceKey}`, undefined, o);
 }
 list(o) {
  return this._get("/emails/devices/supported", undefined, o);
 }
}
exports.PreviewsDevices = PreviewsDevices;
class Previews extends core_js_1.Resource {
 devices = new PreviewsDevices(this._client);
 create(p, o) {
  return this._post("/emails/previews", p, o, { keyed: true });
 }
 get(previewId, o) {
  return this._get(at `/emails/previews/${previewId}`, undefined, o);
 }
 status(previewId, o) {
  return this._get(at `/emails/previews/${previewId}/status`, undefined, o);
 }
 createAndWait(p, o) {
  return this._wait((o) => this._client.previews.create(p, o), (started, o) => this._client.previews.get(started.previewId, o), { done: ["COMPLETED", "PARTIAL_SUCCESS"], failed: ["FAILED"], fields: [] }, o);
 }
}
exports.Previews = Previews;
class Exports extends core_js_1.Resource {
 html(conversationId, p, o) {
  return this._get(at `/export/html/${conversationId}`, p, o);
 }
 mjml(conversationId, p, o) {
  return this._get(at `/export/mjml/${conversationId}`, p, o);
 }
 png(conversationId, p, o) {
  return this._get(at `/export/png/${conversationId}`, p, o);
 }
 pdf(conversationId, p, o) {
  return this._get(at `/export/pdf/${conversationId}`, p, o);
 }
 klaviyo(conversationId, p, o) {
  return this._get(at `/export/platform_a/${conversationId}`, p, o);
 }
 mailchimp(conversationId, p, o) {
  return this._get(at `/export/platform_b/${conversationId}`, p, o);
 }
 hubspot(p, o) {
  return this._post("/export/platform_c", p, o, { keyed: true });
 }
 status(conversationId, p, o) {
  return this._get(at `/export/status/${conversationId}`, p, o);
 }
 formats(o) {
  return this._get("/export/formats", undefined, o);
 }
}
exports.Exports = Exports;
class ContactsBulk extends core_js_1.Resource {
 create(p, o) {
  return this._post("/contacts/bulk", p, o, { keyed: true });
 }
 get(jobId, p, o) {
  return this._get(at `/contacts/bulk/${jobId}`, p, o);
 }
}
exports.ContactsBulk = ContactsBulk;
class ContactsBulkChanges extends core_js_1.Resource {
 create(p, o) {
  return this._post("/contacts/bulk-change", p, o, { keyed: true });
 }
 get(jobId, p, o) {
  return this._get(at `/contacts/bulk-change/${jobId}`, p, o);
 }
}
exports.ContactsBulkChanges = ContactsBulkChanges;
class ContactsImports extends core_js_1.Resource {
 create(p, o) {
  return this._post("/contacts/imports", p, o, { form: true });
 }
 get(id, p, o) {
  return this._get(at `/contacts/imports/${id}`, p, o);
 }
 errors(id, p, o) {
  return this._list(at `/contacts/imports/${id}/errors`, { items: "errors", by: "offset" }, p, o);
 }
 preview(id, p, o) {
  return this._get(at `/contacts/imports/${id}/preview`, p, o);
 }
 start(id, p, o) {
  return this._post(at `/contacts/imports/${id}/start`, p, o, { keyed: true });
 }
}
exports.ContactsImports = ContactsImports;
class ContactsExports extends core_js_1.Resource {
 create(p, o) {
  return this._post("/contacts/exports", p, o, { keyed: true });
 }
 get(jobId, p, o) {
  return this._get(at `/contacts/exports/${jobId}`, p, o);
 }
}
exports.ContactsExports = ContactsExports;
class ContactsJobs extends core_js_1.Resource {
 list(p, o) {
  return this._get("/contacts/jobs", p, o);
 }
 get(id, o) {
  return this._get(at `/contacts/jobs/${id}`, undefined, o);
 }
 markSeen(id, p, o) {
  return this._post(at `/contacts/jobs/${id}/seen`, p, o);
 }
}
exports.ContactsJobs = ContactsJobs;
class Contacts extends core_js_1.Resource {
 bulk = new ContactsBulk(this._client);
 bulkChanges = new ContactsBulkChanges(this._client);
 imports = new ContactsImports(this._client);
 exports = new ContactsExports(this._client);
 jobs = new ContactsJobs(this._client);
 list(p, o) {
  return this._list("/contacts", { items: "contacts", by: "offset" }, p, o);
 }
 create(p, o) {
  return this._post("/contacts", p, o, { keyed: true });
 }
 get(id, p, o) {
  return this._get(at `/contacts/${id}`, p, o);
 }
 update(id, p, o) {
  return this._patch(at `/contacts/${id}`, p, o);
 }
 delete(id, p, o) {
  return this._delete(at `/contacts/${id}`, p, o);
 }
 getProject(id, o) {
  return this._get(at `/contacts/${id}/project`, undefined, o);
 }
 fieldCatalog(projectId, p, o) {
  return this._get(at `/projects/${projectId}/field-catalog`, p, o);
 }
 setStatus(p, o) {
  return this._post("/contacts/status", p, o);
 }
 unsubscribe(p, o) {
  return this._post("/subscribers/unsubscribe", p, o);
 }
 bulkDelete(p, o) {
  return this._post("/contacts/bulk-delete", p, o, { keyed: true });
 }
 events(id, p, o) {
  return this._list(at `/contacts/${id}/events`, { items: "events", by: "cursor" }, p, o);
 }
 topics(id, p, o) {
  return this._get(at `/contacts/${id}/topics`, p, o);
 }
 personalData(id, p, o) {
  return this._get(at `/contacts/${id}/personal-data`, p, o);
 }
 timeline(id, p, o) {
  return this._list(at `/contacts/${id}/timeline`, { items: "entries", by: "cursor" }, p, o);
 }
 importAndWait(p, o) {
  return this._wait((o) => this._client.contacts.imports.create(p, o), (started, o) => this._client.contacts.imports.get(started.id, undefined, o), { done: ["completed", "uploaded"], failed: ["failed"], fields: [] }, o);
 }
 exportAndWait(p, o) {
  return this._wait((o) => this._client.contacts.exports.create(p, o), (started, o) => this._client.contacts.exports.get(started.jobId, { projectId: p.projectId }, o), { done: ["completed"], failed: ["failed"], fields: ["downloadUrl"] }, o);
 }
}
exports.Contacts = Contacts;
class Connections extends core_js_1.Resource {
 list(p, o) {
  return this._get("/connections", p, o);
 }
 delete(p, o) {
  return this._delete("/connections", p, o);
 }
 create(provider, p, o) {
  return this._post(at `/connections/${provider}`, p, o, { keyed: true });
 }
 authorize(provider, p, o) {
  return this._post(at `/connections/${provider}/authorize`, p, o);
 }
 complete(provider, p, o) {
  return this._post(at `/connections/${provider}/complete`, p, o);
 }
 sources(provider, p, o) {
  return this._get(at `/contacts/imports/providers/${provider}/sources`, p, o);
 }
 previewImport(p, o) {
  return this._post("/contacts/imports/provider/preview", p, o);
 }
 importContacts(p, o) {
  return this._post("/contacts/imports/provider", p, o, { keyed: true });
 }
 importAndWait(p, o) {
  return this._wait((o) => this._client.connections.importContacts(p, o), (started, o) => this._client.contacts.imports.get(started.id, undefined, o), { done: ["completed", "uploaded"], failed: ["failed"], fields: [] }, o);
 }
}
exports.Connections = Connections;
class Storefront extends core_js_1.Resource {
 connect(p, o) {
  return this._post("/storefront/connect", p, o, { keyed: true });
 }
 authorize(p, o) {
  return this._post("/storefront/authorize", p, o);
 }
 complete(p, o) {
  return this._post("/storefront/complete", p, o);
 }
 list(p, o) {
  return this._get("/storefront/stores", p, o);
 }
 sync(serverId, o) {
  return this._post(at `/storefront/stores/${serverId}/sync`, undefined, o, { keyed: true });
 }
 disconnect(serverId, o) {
  return this._delete(at `/storefront/stores/${serverId}`, undefined, o);
 }
}
exports.Storefront = Storefront;
class Events extends core_js_1.Resource {
 record(p, o) {
  return this._post("/events", p, o, { keyed: true });
 }
 recordBatch(p, o) {
  return this._post("/events/batch", p, o);
 }
 names(projectId, p, o) {
  return this._get(at `/projects/${projectId}/event-names`, p, o);
 }
}
exports.Events = Events;
class Tags extends core_js_1.Resource {
 list(p, o) {
  return this._list("/tags", { items: "tags", by: "offset" }, p, o);
 }
 create(p, o) {
  return this._post("/tags", p, o, { keyed: true });
 }
 get(id, p, o) {
  return this._get(at `/tags/${id}`, p, o);
 }
 update(id, p, o) {
  return this._patch(at `/tags/${id}`, p, o);
 }
 delete(id, p, o) {
  return this._delete(at `/tags/${id}`, p, o);
 }
}
exports.Tags = Tags;
class Topics extends core_js_1.Resource {
 list(p, o) {
  return this._list("/topics", { items: "topics", by: "offset" }, p, o);
 }
 create(p, o) {
  return this._post("/topics", p, o, { keyed: true });
 }
 get(id, p, o) {
  return this._get(at `/topics/${id}`, p, o);
 }
 update(id, p, o) {
  return this._patch(at `/topics/${id}`, p, o);
 }
 delete(id, p, o) {
  return this._delete(at `/topics/${id}`, p, o);
 }
 subscribe(id, p, o) {
  return this._post(at `/topics/${id}/subscribe`, p, o);
 }
 unsubscribe(id, p, o) {
  return this._post(at `/topics/${id}/unsubscribe`, p, o);
 }
}
exports.Topics = Topics;
class Segments extends core_js_1.Resource {
 list(p, o) {
  return this._list("/segments", { items: "segments", by: "offset" }, p, o);
 }
 create(p, o) {
  return this._post("/segments", p, o, { keyed: true });
 }
 preview(p, o) {
  return this._post("/segments/preview", p, o);
 }
 get(id, p, o) {
  return this._get(at `/segments/${id}`, p, o);
 }
 update(id, p, o) {
  return this._patch(at `/segments/${id}`, p, o);
 }
 delete(id, p, o) {
  return this._delete(at `/segments/${id}`, p, o);
 }
 getProject(id, o) {
  return this._get(at `/segments/${id}/project`, undefined, o);
 }
}
exports.Segments = Segments;
class Suppressions extends core_js_1.Resource {
 list(p, o) {
  return this._list("/suppressions", { items: "suppressions", by: "offset" }, p, o);
 }
 create(p, o) {
  return this._post("/suppressions", p, o, { keyed: true });
 }
 delete(email, o) {
  return this._delete(at `/suppressions/${email}`, undefined, o);
 }
}
exports.Suppressions = Suppressions;
class SendsBatches extends core_js_1.Resource {
 get(batchId, o) {
  return this._get(at `/sending/batches/${batchId}`, undefined, o);
 }
 cancel(batchId, o) {
  return this._post(at `/sending/batches/${batchId}/cancel`, undefined, o, { keyed: true });
 }
 resendUnknown(batchId, o) {
  return this._post(at `/sending/batches/${batchId}/resend-unknown`, undefined, o, { keyed: true });
 }
}
exports.SendsBatches = SendsBatches;
class Sends extends core_js_1.Resource {
 batches = new SendsBatches(this._client);
 get(sendId, o) {
  return this._get(at `/sending/${sendId}`, undefined, o);
 }
}
exports.Sends = Sends;
class Metrics extends core_js_1.Resource {
 sending(p, o) {
  return this._get("/metrics/sending", p, o);
 }
 models(p, o) {
  return this._get("/metrics/models", p, o);
 }
 timeline(p, o) {
  return this._get("/metrics/timeline", p, o);
 }
}
exports.Metrics = Metrics;
class Plan extends core_js_1.Resource {
 get(o) {
  return this._get("/plan", undefined, o);
 }
}
exports.Plan = Plan;
class Inbox extends core_js_1.Resource {
 list(p, o) {
  return this._list("/inbox", { items: "messages", by: "offset" }, p, o);
 }
 get(id, o) {
  return this._get(at `/inbox/${id}`, undefined, o);
 }
 delete(id, o) {
  return this._delete(at `/inbox/${id}`, undefined, o);
 }
 html(id, p, o) {
  return this._get(at `/inbox/${id}/html`, p, o, { answer: "text" });
 }
 raw(id, o) {
  return this._get(at `/inbox/${id}/raw`, undefined, o, { answer: "bytes" });
 }
 screenshot(id, o) {
  return this._get(at `/inbox/${id}/screenshot`, undefined, o, { answer: "bytes" });
 }
}
exports.Inbox = Inbox;
class Campaigns extends core_js_1.Resource {
 create(p, o) {
  return this._post("/campaigns", p, o, { keyed: true });
 }
 list(p, o) {
  return this._list("/campaigns", { items: "campaigns", by: "offset" }, p, o);
 }
 overview(p, o) {
  return this._list("/campaigns/overview", { items: "campaigns", by: "before" }, p, o);
 }
 get(id, p, o) {
  return this._get(at `/campaigns/${id}`, p, o);
 }
 update(id, p, o) {
  return this._patch(at `/campaigns/${id}`, p, o);
 }
 delete(id, p, o) {
  return this._delete(at `/campaigns/${id}`, p, o);
 }
 duplicate(id, p, o) {
  return this._post(at `/campaigns/${id}/duplicate`, p, o, { keyed: true });
 }
 test(id, p, o) {
  return this._post(at `/campaigns/${id}/test`, p, o, { keyed: true });
 }
 dryRun(id, p, o) {
  return this._get(at `/campaigns/${id}/dry-run`, p, o);
 }
 send(id, p, o) {
  return this._post(at `/campaigns/${id}/send`, p, o, { keyed: true });
 }
 schedule(id, p, o) {
  return this._post(at `/campaigns/${id}/schedule`, p, o, { keyed: true });
 }
 reschedule(id, p, o) {
  return this._post(at `/campaigns/${id}/reschedule`, p, o, { keyed: true });
 }
 unschedule(id, p, o) {
  return this._post(at `/campaigns/${id}/unschedule`, p, o, { keyed: true });
 }
 pause(id, p, o) {
  return this._post(at `/campaigns/${id}/pause`, p, o, { keyed: true });
 }
 resume(id, p, o) {
  return this._post(at `/campaigns/${id}/resume`, p, o, { keyed: true });
 }
 cancel(id, p, o) {
  return this._post(at `/campaigns/${id}/cancel`, p, o, { keyed: true });
 }
 archive(id, p, o) {
  return this._post(at `/campaigns/${id}/archive`, p, o, { keyed: true });
 }
 unarchive(id, p, o) {
  return this._post(at `/campaigns/${id}/unarchive`, p, o, { keyed: true });
 }
 stats(id, p, o) {
  return this._get(at `/campaigns/${id}/stats`, p, o);
 }
 report(id, p, o) {
  return this._get(at `/campaigns/${id}/report`, p, o);
 }
 logs(id, p, o) {
  return this._list(at `/campaigns/${id}/logs`, { items: "emails", by: "cursor" }, p, o);
 }
 resendUnknown(id, p, o) {
  return this._post(at `/campaigns/${id}/resend-unknown`, p, o, { keyed: true });
 }
}
exports.Campaigns = Campaigns;
class MailServices extends core_js_1.Resource {
 list(p, o) {
  return this._list("/mail-services", { items: "mailServices", by: "offset" }, p, o);
 }
 create(p, o) {
  return this._post("/mail-services", p, o, { keyed: true });
 }
 get(mailServiceId, o) {
  return this._get(at `/mail-services/${mailServiceId}`, undefined, o);
 }
 update(mailServiceId, p, o) {
  return this._patch(at `/mail-services/${mailServiceId}`, p, o);
 }
 delete(mailServiceId, o) {
  return this._delete(at `/mail-services/${mailServiceId}`, undefined, o);
 }
 test(mailServiceId, o) {
  return this._post(at `/mail-services/${mailServiceId}/test`, undefined, o);
 }
}
exports.MailServices = MailServices;
class IncomingWebhooks extends core_js_1.Resource {
 list(p, o) {
  return this._list("/incoming-webhooks", { items: "hooks", by: "offset" }, p, o);
 }
 create(p, o) {
  return this._post("/incoming-webhooks", p, o, { keyed: true });
 }
 get(hook, o) {
  return this._get(at `/incoming-webhooks/${hook}`, undefined, o);
 }
 update(hook, p, o) {
  return this._patch(at `/incoming-webhooks/${hook}`, p, o);
 }
 delete(hook, o) {
  return this._delete(at `/incoming-webhooks/${hook}`, undefined, o);
 }
 deliveries(hook, o) {
  return this._get(at `/incoming-webhooks/${hook}/deliveries`, undefined, o);
 }
 test(hook, p, o) {
  return this._post(at `/incoming-webhooks/${hook}/test`, p, o);
 }
}
exports.IncomingWebhooks = IncomingWebhooks;
class ScheduledImports extends core_js_1.Resource {
 list(p, o) {
  return this._list("/scheduled-imports", { items: "imports", by: "offset" }, p, o);
 }
 create(p, o) {
  return this._post("/scheduled-imports", p, o, { keyed: true });
 }
 get(id, o) {
  return this._get(at `/scheduled-imports/${id}`, undefined, o);
 }
 update(id, p, o) {
  return this._patch(at `/scheduled-imports/${id}`, p, o);
 }
 delete(id, o) {
  return this._delete(at `/scheduled-imports/${id}`, undefined, o);
 }
 run(id, o) {
  return this._post(at `/scheduled-imports/${id}/run`, undefined, o, { keyed: true });
 }
}
exports.ScheduledImports = ScheduledImports;
class WebhooksDeliveries extends core_js_1.Resource {
 list(webhookId, p, o) {
  return this._list(at `/webhooks/${webhookId}/deliveries`, { items: "deliveries", by: "offset" }, p, o);
 }
 get(webhookId, deliveryId, o) {
  return this._get(at `/webhooks/${webhookId}/deliveries/${deliveryId}`, undefined, o);
 }
 retry(webhookId, deliveryId, o) {
  return this._post(at `/webhooks/${webhookId}/deliveries/${deliveryId}/retry`, undefined, o, { keyed: true });
 }
}
exports.WebhooksDeliveries = WebhooksDeliveries;
class Webhooks extends core_js_1.Resource {
 deliveries = new WebhooksDeliveries(this._client);
 list(p, o) {
  return this._list("/webhooks", { items: "webhooks", by: "offset" }, p, o);
 }
 create(p, o) {
  return this._post("/webhooks", p, o, { keyed: true });
 }
 eventTypes(o) {
  return this._get("/webhooks/events", undefined, o);
 }
 stats(o) {
  return this._get("/webhooks/stats", undefined, o);
 }
 get(webhookId, o) {
  return this._get(at `/webhooks/${webhookId}`, undefined, o);
 }
 update(webhookId, p, o) {
  return this._patch(at `/webhooks/${webhookId}`, p, o);
 }
 delete(webhookId, o) {
  return this._delete(at `/webhooks/${webhookId}`, undefined, o);
 }
 test(webhookId, o) {
  return this._post(at `/webhooks/${webhookId}/test`, undefined, o);
 }
 rotateSecret(webhookId, p, o) {
  return this._post(at `/webhooks/${webhookId}/rotate-secret`, p, o, { keyed: true });
 }
 redeliver(webhookId, p, o) {
  return this._post(at `/webhooks/${webhookId}/redeliver`, p, o, { keyed: true });
 }
}
exports.Webhooks = Webhooks;
class Mailmill extends core_js_1.Client {
 projects = new Projects(this);
 domains = new Domains(this);
 emails = new Emails(this);
 savedBlocks = new SavedBlocks(this);
 validation = new Validation(this);
 previews = new Previews(this);
 exports = new Exports(this);
 contacts = new Contacts(this);
 connections = new Connections(this);
 storefront = new Storefront(this);
 events = new Events(this);
 tags = new Tags(this);
 topics = new Topics(this);
 segments = new Segments(this);
 suppressions = new Suppressions(this);
 sends = new Sends(this);
 metrics = new Metrics(this);
 plan = new Plan(this);
 inbox = new Inbox(this);
 campaigns = new Campaigns(this);
 mailServices = new MailServices(this);
 incomingWebhooks = new IncomingWebhooks(this);
 scheduledImports = new ScheduledImports(this);
 webhooks = new Webhooks(this);
}
exports.Mailmill = Mailmill;
