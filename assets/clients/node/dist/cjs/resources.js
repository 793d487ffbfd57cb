"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.Mailmill = exports.Webhooks = exports.WebhooksDeliveries = exports.ScheduledImports = exports.IncomingWebhooks = exports.MailServices = exports.Campaigns = exports.Inbox = exports.Plan = exports.Metrics = exports.Sends = exports.SendsBatches = exports.Suppressions = exports.Segments = exports.Topics = exports.Tags = exports.Events = exports.Storefront = exports.Connections = exports.Contacts = exports.ContactsJobs = exports.ContactsExports = exports.ContactsImports = exports.ContactsBulkChanges = exports.ContactsBulk = exports.Exports = exports.Previews = exports.PreviewsDevices = exports.Validation = exports.SavedBlocks = exports.Emails = exports.EmailsDesigns = exports.EmailsChecks = exports.EmailsVersions = exports.EmailsEdits = exports.Domains = exports.Projects = exports.ProjectsProducts = exports.ProjectsImages = exports.ProjectsKnowledge = exports.ProjectsImports = void 0;
const core_js_1 = require("./core.js");
const at = core_js_1.path;
class ProjectsImports extends core_js_1.Resource {
 create(params, options) {
  return this._post("/projects/import", params, options, { keyed: true });
 }
 get(projectId, options) {
  return this._get(at `/projects/import/${projectId}/status`, undefined, options);
 }
 retry(projectId, options) {
  return this._post(at `/projects/import/${projectId}/retry`, undefined, options, { keyed: true });
 }
 changes(projectId, options) {
  return this._get(at `/projects/import/${projectId}/changes`, undefined, options);
 }
 decide(projectId, params, options) {
  return this._post(at `/projects/import/${projectId}/changes`, params, options);
 }
}
exports.ProjectsImports = ProjectsImports;
class ProjectsKnowledge extends core_js_1.Resource {
 list(projectId, params, options) {
  return this._list(at `/projects/${projectId}/knowledge-base`, { items: "entries", by: "offset" }, params, options);
 }
 create(projectId, params, options) {
  return this._post(at `/projects/${projectId}/knowledge-base`, params, options, { keyed: true });
 }
 get(projectId, entryId, options) {
  return this._get(at `/projects/${projectId}/knowledge-base/${entryId}`, undefined, options);
 }
 update(projectId, entryId, params, options) {
  return this._put(at `/projects/${projectId}/knowledge-base/${entryId}`, params, options);
 }
 delete(projectId, entryId, options) {
  return this._delete(at `/projects/${projectId}/knowledge-base/${entryId}`, undefined, options);
 }
}
exports.ProjectsKnowledge = ProjectsKnowledge;
class ProjectsImages extends core_js_1.Resource {
 list(projectId, params, options) {
  return this._list(at `/projects/${projectId}/images`, { items: "images", by: "offset" }, params, options);
 }
 create(projectId, params, options) {
  return this._post(at `/projects/${projectId}/images`, params, options, { keyed: true });
 }
 update(projectId, params, options) {
  return this._put(at `/projects/${projectId}/images`, params, options);
 }
 delete(projectId, params, options) {
  return this._delete(at `/projects/${projectId}/images`, params, options);
 }
 upload(projectId, params, options) {
  return this._post(at `/projects/${projectId}/images/upload`, params, options, { keyed: true, base64: "file" });
 }
 preview(projectId, params, options) {
  return this._get(at `/projects/${projectId}/images/preview`, params, options, { answer: "bytes" });
 }
}
exports.ProjectsImages = ProjectsImages;
class ProjectsProducts extends core_js_1.Resource {
 list(projectId, params, options) {
  return this._list(at `/projects/${projectId}/products`, { items: "products", by: "offset" }, params, options);
 }
 create(projectId, params, options) {
  return this._post(at `/projects/${projectId}/products`, params, options, { keyed: true });
 }
 update(projectId, productId, params, options) {
  return this._patch(at `/projects/${projectId}/products/${productId}`, params, options);
 }
 delete(projectId, productId, options) {
  return this._delete(at `/projects/${projectId}/products/${productId}`, undefined, options);
 }
 merge(projectId, productId, params, options) {
  return this._post(at `/projects/${projectId}/products/${productId}/merge`, params, options, { keyed: true });
 }
}
exports.ProjectsProducts = ProjectsProducts;
class Projects extends core_js_1.Resource {
 imports = new ProjectsImports(this._client);
 knowledge = new ProjectsKnowledge(this._client);
 images = new ProjectsImages(this._client);
 products = new ProjectsProducts(this._client);
 list(params, options) {
  return this._list("/projects", { items: "projects", by: "offset" }, params, options);
 }
 get(projectId, options) {
  return this._get(at `/projects/${projectId}`, undefined, options);
 }
 update(projectId, params, options) {
  return this._patch(at `/projects/${projectId}`, params, options);
 }
 updateLogos(projectId, params, options) {
  return this._put(at `/projects/${projectId}/logos`, params, options);
 }
 updateGuidelines(projectId, params, options) {
  return this._put(at `/projects/${projectId}/brand-guidelines`, params, options);
 }
 references(projectId, options) {
  return this._get(at `/projects/${projectId}/references`, undefined, options);
 }
 previewTheme(projectId, params, options) {
  return this._get(at `/projects/${projectId}/theme-preview`, params, options, { answer: "text" });
 }
 importAndWait(params, options) {
  return this._wait((options) => this._client.projects.imports.create(params, options), (started, options) => this._client.projects.imports.get(started.projectId, options), { done: ["active"], failed: ["error"], fields: [] }, options);
 }
}
exports.Projects = Projects;
class Domains extends core_js_1.Resource {
 list(params, options) {
  return this._list("/domains", { by: "offset" }, params, options);
 }
 create(params, options) {
  return this._post("/domains", params, options, { keyed: true });
 }
 createStream(params, options) {
  return this._post("/domains/streams", params, options, { keyed: true });
 }
 setup(params, options) {
  return this._post("/domains/setup", params, options, { keyed: true });
 }
 get(domain, options) {
  return this._get(at `/domains/${domain}`, undefined, options);
 }
 update(domain, params, options) {
  return this._patch(at `/domains/${domain}`, params, options);
 }
 delete(domain, options) {
  return this._delete(at `/domains/${domain}`, undefined, options);
 }
 verify(domain, options) {
  return this._post(at `/domains/${domain}/verify`, undefined, options);
 }
 rotate(domain, options) {
  return this._post(at `/domains/${domain}/rotate`, undefined, options, { keyed: true });
 }
}
exports.Domains = Domains;
class EmailsEdits extends core_js_1.Resource {
 create(emailId, params, options) {
  return this._post(at `/emails/${emailId}/edit`, params, options, { keyed: true });
 }
 get(emailId, editId, options) {
  return this._get(at `/emails/${emailId}/edits/${editId}`, undefined, options);
 }
 save(emailId, editId, params, options) {
  return this._post(at `/emails/${emailId}/edits/${editId}/save`, params, options, { keyed: true });
 }
}
exports.EmailsEdits = EmailsEdits;
class EmailsVersions extends core_js_1.Resource {
 list(emailId, params, options) {
  return this._list(at `/emails/${emailId}/versions`, { items: "versions", by: "offset" }, params, options);
 }
 restore(emailId, version, params, options) {
  return this._post(at `/emails/${emailId}/versions/${version}/restore`, params, options, { keyed: true });
 }
}
exports.EmailsVersions = EmailsVersions;
class EmailsChecks extends core_js_1.Resource {
 get(emailId, params, options) {
  return this._get(at `/emails/${emailId}/checks`, params, options);
 }
 run(emailId, params, options) {
  return this._post(at `/emails/${emailId}/checks`, params, options, { keyed: true });
 }
 ignore(emailId, findingId, params, options) {
  return this._put(at `/emails/${emailId}/checks/${findingId}/ignored`, params, options);
 }
 fix(emailId, findingId, params, options) {
  return this._post(at `/emails/${emailId}/checks/${findingId}/fix`, params, options, { keyed: true });
 }
}
exports.EmailsChecks = EmailsChecks;
class EmailsDesigns extends core_js_1.Resource {
 list(options) {
  return this._get("/emails/designs", undefined, options);
 }
 html(design, params, options) {
  return this._get(at `/emails/designs/${design}/html`, params, options, { answer: "text" });
 }
}
exports.EmailsDesigns = EmailsDesigns;
class Emails extends core_js_1.Resource {
 edits = new EmailsEdits(this._client);
 versions = new EmailsVersions(this._client);
 checks = new EmailsChecks(this._client);
 designs = new EmailsDesigns(this._client);
 brief(params, options) {
  return this._post("/projects/emails/brief", params, options);
 }
 addToBrief(emailId, params, options) {
  return this._post(at `/emails/${emailId}/brief`, params, options);
 }
 generate(params, options) {
  return this._post("/projects/emails/generate", params, options, { keyed: true });
 }
 importHtml(params, options) {
  return this._post("/projects/emails/import-html", params, options, { keyed: true });
 }
 status(conversationId, params, options) {
  return this._get(at `/projects/emails/${conversationId}/status`, params, options);
 }
 list(params, options) {
  return this._list("/projects/emails", { items: "emails", by: "offset" }, params, options);
 }
 get(emailId, params, options) {
  return this._get(at `/emails/${emailId}`, params, options);
 }
 create(params, options) {
  return this._post("/emails", params, options, { keyed: true });
 }
 updateDocument(emailId, params, options) {
  return this._patch(at `/emails/${emailId}/document`, params, options, { keyed: true });
 }
 favorite(emailId, params, options) {
  return this._put(at `/emails/${emailId}/favorite`, params, options);
 }
 html(emailId, params, options) {
  return this._get(at `/emails/${emailId}/html`, params, options, { answer: "text" });
 }
 metrics(emailId, params, options) {
  return this._get(at `/emails/${emailId}/metrics`, params, options);
 }
 logs(emailId, params, options) {
  return this._list(at `/emails/${emailId}/logs`, { items: "emails", by: "cursor" }, params, options);
 }
 send(params, options) {
  return this._post("/sending", params, options, { keyed: true });
 }
 sendTest(params, options) {
  return this._post("/emails/test/send", params, options, { keyed: true });
 }
 generateAndWait(params, options) {
  return this._wait((options) => this._client.emails.generate(params, options), (started, options) => this._client.emails.status(started.conversationId, undefined, options), { done: ["completed"], failed: ["failed"], fields: ["result"] }, options);
 }
 importHtmlAndWait(params, options) {
  return this._wait((options) => this._client.emails.importHtml(params, options), (started, options) => this._client.emails.status(started.conversationId, undefined, options), { done: ["completed"], failed: ["failed"], fields: ["result"] }, options);
 }
}
exports.Emails = Emails;
class SavedBlocks extends core_js_1.Resource {
 list(projectId, params, options) {
  return this._list(at `/projects/${projectId}/blocks`, { items: "blocks", by: "offset" }, params, options);
 }
 create(projectId, params, options) {
  return this._post(at `/projects/${projectId}/blocks`, params, options, { keyed: true });
 }
 update(projectId, blockId, params, options) {
  return this._patch(at `/projects/${projectId}/blocks/${blockId}`, params, options);
 }
 delete(projectId, blockId, options) {
  return this._delete(at `/projects/${projectId}/blocks/${blockId}`, undefined, options);
 }
}
exports.SavedBlocks = SavedBlocks;
class Validation extends core_js_1.Resource {
 compatibility(params, options) {
  return this._post("/emails/validate/compatibility", params, options);
 }
 links(params, options) {
  return this._post("/emails/validate/links", params, options);
 }
 spelling(params, options) {
  return this._post("/emails/validate/spelling", params, options);
 }
 deliverability(params, options) {
  return this._post("/emails/validate/deliverability", params, options);
 }
 all(params, options) {
  return this._post("/emails/validate/all", params, options);
 }
}
exports.Validation = Validation;
class PreviewsDevices extends core_js_1.Resource {
 get(previewId, deviceKey, options) {
  return this._get(at `/emails/previews/${previewId}/devices/${deviceKey}`, undefined, options);
 }
 list(options) {
  return this._get("/emails/devices/supported", undefined, options);
 }
}
exports.PreviewsDevices = PreviewsDevices;
class Previews extends core_js_1.Resource {
 devices = new PreviewsDevices(this._client);
 create(params, options) {
  return this._post("/emails/previews", params, options, { keyed: true });
 }
 get(previewId, options) {
  return this._get(at `/emails/previews/${previewId}`, undefined, options);
 }
 status(previewId, options) {
  return this._get(at `/emails/previews/${previewId}/status`, undefined, options);
 }
 createAndWait(params, options) {
  return this._wait((options) => this._client.previews.create(params, options), (started, options) => this._client.previews.get(started.previewId, options), { done: ["COMPLETED", "PARTIAL_SUCCESS"], failed: ["FAILED"], fields: [] }, options);
 }
}
exports.Previews = Previews;
class Exports extends core_js_1.Resource {
 html(conversationId, params, options) {
  return this._get(at `/export/html/${conversationId}`, params, options);
 }
 mjml(conversationId, params, options) {
  return this._get(at `/export/mjml/${conversationId}`, params, options);
 }
 png(conversationId, params, options) {
  return this._get(at `/export/png/${conversationId}`, params, options);
 }
 pdf(conversationId, params, options) {
  return this._get(at `/export/pdf/${conversationId}`, params, options);
 }
 klaviyo(conversationId, params, options) {
  return this._get(at `/export/platform_a/${conversationId}`, params, options);
 }
 mailchimp(conversationId, params, options) {
  return this._get(at `/export/platform_b/${conversationId}`, params, options);
 }
 hubspot(params, options) {
  return this._post("/export/platform_c", params, options, { keyed: true });
 }
 status(conversationId, params, options) {
  return this._get(at `/export/status/${conversationId}`, params, options);
 }
 formats(options) {
  return this._get("/export/formats", undefined, options);
 }
}
exports.Exports = Exports;
class ContactsBulk extends core_js_1.Resource {
 create(params, options) {
  return this._post("/contacts/bulk", params, options, { keyed: true });
 }
 get(jobId, params, options) {
  return this._get(at `/contacts/bulk/${jobId}`, params, options);
 }
}
exports.ContactsBulk = ContactsBulk;
class ContactsBulkChanges extends core_js_1.Resource {
 create(params, options) {
  return this._post("/contacts/bulk-change", params, options, { keyed: true });
 }
 get(jobId, params, options) {
  return this._get(at `/contacts/bulk-change/${jobId}`, params, options);
 }
}
exports.ContactsBulkChanges = ContactsBulkChanges;
class ContactsImports extends core_js_1.Resource {
 create(params, options) {
  return this._post("/contacts/imports", params, options, { form: true });
 }
 get(id, params, options) {
  return this._get(at `/contacts/imports/${id}`, params, options);
 }
 errors(id, params, options) {
  return this._list(at `/contacts/imports/${id}/errors`, { items: "errors", by: "offset" }, params, options);
 }
 preview(id, params, options) {
  return this._get(at `/contacts/imports/${id}/preview`, params, options);
 }
 start(id, params, options) {
  return this._post(at `/contacts/imports/${id}/start`, params, options, { keyed: true });
 }
}
exports.ContactsImports = ContactsImports;
class ContactsExports extends core_js_1.Resource {
 create(params, options) {
  return this._post("/contacts/exports", params, options, { keyed: true });
 }
 get(jobId, params, options) {
  return this._get(at `/contacts/exports/${jobId}`, params, options);
 }
}
exports.ContactsExports = ContactsExports;
class ContactsJobs extends core_js_1.Resource {
 list(params, options) {
  return this._get("/contacts/jobs", params, options);
 }
 get(id, options) {
  return this._get(at `/contacts/jobs/${id}`, undefined, options);
 }
 markSeen(id, params, options) {
  return this._post(at `/contacts/jobs/${id}/seen`, params, options);
 }
}
exports.ContactsJobs = ContactsJobs;
class Contacts extends core_js_1.Resource {
 bulk = new ContactsBulk(this._client);
 bulkChanges = new ContactsBulkChanges(this._client);
 imports = new ContactsImports(this._client);
 exports = new ContactsExports(this._client);
 jobs = new ContactsJobs(this._client);
 list(params, options) {
  return this._list("/contacts", { items: "contacts", by: "offset" }, params, options);
 }
 create(params, options) {
  return this._post("/contacts", params, options, { keyed: true });
 }
 get(id, params, options) {
  return this._get(at `/contacts/${id}`, params, options);
 }
 update(id, params, options) {
  return this._patch(at `/contacts/${id}`, params, options);
 }
 delete(id, params, options) {
  return this._delete(at `/contacts/${id}`, params, options);
 }
 getProject(id, options) {
  return this._get(at `/contacts/${id}/project`, undefined, options);
 }
 fieldCatalog(projectId, params, options) {
  return this._get(at `/projects/${projectId}/field-catalog`, params, options);
 }
 setStatus(params, options) {
  return this._post("/contacts/status", params, options);
 }
 unsubscribe(params, options) {
  return this._post("/subscribers/unsubscribe", params, options);
 }
 bulkDelete(params, options) {
  return this._post("/contacts/bulk-delete", params, options, { keyed: true });
 }
 events(id, params, options) {
  return this._list(at `/contacts/${id}/events`, { items: "events", by: "cursor" }, params, options);
 }
 topics(id, params, options) {
  return this._get(at `/contacts/${id}/topics`, params, options);
 }
 personalData(id, params, options) {
  return this._get(at `/contacts/${id}/personal-data`, params, options);
 }
 timeline(id, params, options) {
  return this._list(at `/contacts/${id}/timeline`, { items: "entries", by: "cursor" }, params, options);
 }
 importAndWait(params, options) {
  return this._wait((options) => this._client.contacts.imports.create(params, options), (started, options) => this._client.contacts.imports.get(started.id, undefined, options), { done: ["completed", "uploaded"], failed: ["failed"], fields: [] }, options);
 }
 exportAndWait(params, options) {
  return this._wait((options) => this._client.contacts.exports.create(params, options), (started, options) => this._client.contacts.exports.get(started.jobId, { projectId: params.projectId }, options), { done: ["completed"], failed: ["failed"], fields: ["downloadUrl"] }, options);
 }
}
exports.Contacts = Contacts;
class Connections extends core_js_1.Resource {
 list(params, options) {
  return this._get("/connections", params, options);
 }
 delete(params, options) {
  return this._delete("/connections", params, options);
 }
 create(provider, params, options) {
  return this._post(at `/connections/${provider}`, params, options, { keyed: true });
 }
 authorize(provider, params, options) {
  return this._post(at `/connections/${provider}/authorize`, params, options);
 }
 complete(provider, params, options) {
  return this._post(at `/connections/${provider}/complete`, params, options);
 }
 sources(provider, params, options) {
  return this._get(at `/contacts/imports/providers/${provider}/sources`, params, options);
 }
 previewImport(params, options) {
  return this._post("/contacts/imports/provider/preview", params, options);
 }
 importContacts(params, options) {
  return this._post("/contacts/imports/provider", params, options, { keyed: true });
 }
 importAndWait(params, options) {
  return this._wait((options) => this._client.connections.importContacts(params, options), (started, options) => this._client.contacts.imports.get(started.id, undefined, options), { done: ["completed", "uploaded"], failed: ["failed"], fields: [] }, options);
 }
}
exports.Connections = Connections;
class Storefront extends core_js_1.Resource {
 connect(params, options) {
  return this._post("/storefront/connect", params, options, { keyed: true });
 }
 authorize(params, options) {
  return this._post("/storefront/authorize", params, options);
 }
 complete(params, options) {
  return this._post("/storefront/complete", params, options);
 }
 list(params, options) {
  return this._get("/storefront/stores", params, options);
 }
 sync(serverId, options) {
  return this._post(at `/storefront/stores/${serverId}/sync`, undefined, options, { keyed: true });
 }
 disconnect(serverId, options) {
  return this._delete(at `/storefront/stores/${serverId}`, undefined, options);
 }
}
exports.Storefront = Storefront;
class Events extends core_js_1.Resource {
 record(params, options) {
  return this._post("/events", params, options, { keyed: true });
 }
 recordBatch(params, options) {
  return this._post("/events/batch", params, options);
 }
 names(projectId, params, options) {
  return this._get(at `/projects/${projectId}/event-names`, params, options);
 }
}
exports.Events = Events;
class Tags extends core_js_1.Resource {
 list(params, options) {
  return this._list("/tags", { items: "tags", by: "offset" }, params, options);
 }
 create(params, options) {
  return this._post("/tags", params, options, { keyed: true });
 }
 get(id, params, options) {
  return this._get(at `/tags/${id}`, params, options);
 }
 update(id, params, options) {
  return this._patch(at `/tags/${id}`, params, options);
 }
 delete(id, params, options) {
  return this._delete(at `/tags/${id}`, params, options);
 }
}
exports.Tags = Tags;
class Topics extends core_js_1.Resource {
 list(params, options) {
  return this._list("/topics", { items: "topics", by: "offset" }, params, options);
 }
 create(params, options) {
  return this._post("/topics", params, options, { keyed: true });
 }
 get(id, params, options) {
  return this._get(at `/topics/${id}`, params, options);
 }
 update(id, params, options) {
  return this._patch(at `/topics/${id}`, params, options);
 }
 delete(id, params, options) {
  return this._delete(at `/topics/${id}`, params, options);
 }
 subscribe(id, params, options) {
  return this._post(at `/topics/${id}/subscribe`, params, options);
 }
 unsubscribe(id, params, options) {
  return this._post(at `/topics/${id}/unsubscribe`, params, options);
 }
}
exports.Topics = Topics;
class Segments extends core_js_1.Resource {
 list(params, options) {
  return this._list("/segments", { items: "segments", by: "offset" }, params, options);
 }
 create(params, options) {
  return this._post("/segments", params, options, { keyed: true });
 }
 preview(params, options) {
  return this._post("/segments/preview", params, options);
 }
 get(id, params, options) {
  return this._get(at `/segments/${id}`, params, options);
 }
 update(id, params, options) {
  return this._patch(at `/segments/${id}`, params, options);
 }
 delete(id, params, options) {
  return this._delete(at `/segments/${id}`, params, options);
 }
 getProject(id, options) {
  return this._get(at `/segments/${id}/project`, undefined, options);
 }
}
exports.Segments = Segments;
class Suppressions extends core_js_1.Resource {
 list(params, options) {
  return this._list("/suppressions", { items: "suppressions", by: "offset" }, params, options);
 }
 create(params, options) {
  return this._post("/suppressions", params, options, { keyed: true });
 }
 delete(email, options) {
  return this._delete(at `/suppressions/${email}`, undefined, options);
 }
}
exports.Suppressions = Suppressions;
class SendsBatches extends core_js_1.Resource {
 get(batchId, options) {
  return this._get(at `/sending/batches/${batchId}`, undefined, options);
 }
 cancel(batchId, options) {
  return this._post(at `/sending/batches/${batchId}/cancel`, undefined, options, { keyed: true });
 }
 resendUnknown(batchId, options) {
  return this._post(at `/sending/batches/${batchId}/resend-unknown`, undefined, options, { keyed: true });
 }
}
exports.SendsBatches = SendsBatches;
class Sends extends core_js_1.Resource {
 batches = new SendsBatches(this._client);
 get(sendId, options) {
  return this._get(at `/sending/${sendId}`, undefined, options);
 }
}
exports.Sends = Sends;
class Metrics extends core_js_1.Resource {
 sending(params, options) {
  return this._get("/metrics/sending", params, options);
 }
 models(params, options) {
  return this._get("/metrics/models", params, options);
 }
 timeline(params, options) {
  return this._get("/metrics/timeline", params, options);
 }
}
exports.Metrics = Metrics;
class Plan extends core_js_1.Resource {
 get(options) {
  return this._get("/plan", undefined, options);
 }
}
exports.Plan = Plan;
class Inbox extends core_js_1.Resource {
 list(params, options) {
  return this._list("/inbox", { items: "messages", by: "offset" }, params, options);
 }
 get(id, options) {
  return this._get(at `/inbox/${id}`, undefined, options);
 }
 delete(id, options) {
  return this._delete(at `/inbox/${id}`, undefined, options);
 }
 html(id, params, options) {
  return this._get(at `/inbox/${id}/html`, params, options, { answer: "text" });
 }
 raw(id, options) {
  return this._get(at `/inbox/${id}/raw`, undefined, options, { answer: "bytes" });
 }
 screenshot(id, options) {
  return this._get(at `/inbox/${id}/screenshot`, undefined, options, { answer: "bytes" });
 }
}
exports.Inbox = Inbox;
class Campaigns extends core_js_1.Resource {
 create(params, options) {
  return this._post("/campaigns", params, options, { keyed: true });
 }
 list(params, options) {
  return this._list("/campaigns", { items: "campaigns", by: "offset" }, params, options);
 }
 overview(params, options) {
  return this._list("/campaigns/overview", { items: "campaigns", by: "before" }, params, options);
 }
 get(id, params, options) {
  return this._get(at `/campaigns/${id}`, params, options);
 }
 update(id, params, options) {
  return this._patch(at `/campaigns/${id}`, params, options);
 }
 delete(id, params, options) {
  return this._delete(at `/campaigns/${id}`, params, options);
 }
 duplicate(id, params, options) {
  return this._post(at `/campaigns/${id}/duplicate`, params, options, { keyed: true });
 }
 test(id, params, options) {
  return this._post(at `/campaigns/${id}/test`, params, options, { keyed: true });
 }
 dryRun(id, params, options) {
  return this._get(at `/campaigns/${id}/dry-run`, params, options);
 }
 send(id, params, options) {
  return this._post(at `/campaigns/${id}/send`, params, options, { keyed: true });
 }
 schedule(id, params, options) {
  return this._post(at `/campaigns/${id}/schedule`, params, options, { keyed: true });
 }
 reschedule(id, params, options) {
  return this._post(at `/campaigns/${id}/reschedule`, params, options, { keyed: true });
 }
 unschedule(id, params, options) {
  return this._post(at `/campaigns/${id}/unschedule`, params, options, { keyed: true });
 }
 pause(id, params, options) {
  return this._post(at `/campaigns/${id}/pause`, params, options, { keyed: true });
 }
 resume(id, params, options) {
  return this._post(at `/campaigns/${id}/resume`, params, options, { keyed: true });
 }
 cancel(id, params, options) {
  return this._post(at `/campaigns/${id}/cancel`, params, options, { keyed: true });
 }
 archive(id, params, options) {
  return this._post(at `/campaigns/${id}/archive`, params, options, { keyed: true });
 }
 unarchive(id, params, options) {
  return this._post(at `/campaigns/${id}/unarchive`, params, options, { keyed: true });
 }
 stats(id, params, options) {
  return this._get(at `/campaigns/${id}/stats`, params, options);
 }
 report(id, params, options) {
  return this._get(at `/campaigns/${id}/report`, params, options);
 }
 logs(id, params, options) {
  return this._list(at `/campaigns/${id}/logs`, { items: "emails", by: "cursor" }, params, options);
 }
 resendUnknown(id, params, options) {
  return this._post(at `/campaigns/${id}/resend-unknown`, params, options, { keyed: true });
 }
}
exports.Campaigns = Campaigns;
class MailServices extends core_js_1.Resource {
 list(params, options) {
  return this._list("/mail-services", { items: "mailServices", by: "offset" }, params, options);
 }
 create(params, options) {
  return this._post("/mail-services", params, options, { keyed: true });
 }
 get(mailServiceId, options) {
  return this._get(at `/mail-services/${mailServiceId}`, undefined, options);
 }
 update(mailServiceId, params, options) {
  return this._patch(at `/mail-services/${mailServiceId}`, params, options);
 }
 delete(mailServiceId, options) {
  return this._delete(at `/mail-services/${mailServiceId}`, undefined, options);
 }
 test(mailServiceId, options) {
  return this._post(at `/mail-services/${mailServiceId}/test`, undefined, options);
 }
}
exports.MailServices = MailServices;
class IncomingWebhooks extends core_js_1.Resource {
 list(params, options) {
  return this._list("/incoming-webhooks", { items: "hooks", by: "offset" }, params, options);
 }
 create(params, options) {
  return this._post("/incoming-webhooks", params, options, { keyed: true });
 }
 get(hook, options) {
  return this._get(at `/incoming-webhooks/${hook}`, undefined, options);
 }
 update(hook, params, options) {
  return this._patch(at `/incoming-webhooks/${hook}`, params, options);
 }
 delete(hook, options) {
  return this._delete(at `/incoming-webhooks/${hook}`, undefined, options);
 }
 deliveries(hook, options) {
  return this._get(at `/incoming-webhooks/${hook}/deliveries`, undefined, options);
 }
 test(hook, params, options) {
  return this._post(at `/incoming-webhooks/${hook}/test`, params, options);
 }
}
exports.IncomingWebhooks = IncomingWebhooks;
class ScheduledImports extends core_js_1.Resource {
 list(params, options) {
  return this._list("/scheduled-imports", { items: "imports", by: "offset" }, params, options);
 }
 create(params, options) {
  return this._post("/scheduled-imports", params, options, { keyed: true });
 }
 get(id, options) {
  return this._get(at `/scheduled-imports/${id}`, undefined, options);
 }
 update(id, params, options) {
  return this._patch(at `/scheduled-imports/${id}`, params, options);
 }
 delete(id, options) {
  return this._delete(at `/scheduled-imports/${id}`, undefined, options);
 }
 run(id, options) {
  return this._post(at `/scheduled-imports/${id}/run`, undefined, options, { keyed: true });
 }
}
exports.ScheduledImports = ScheduledImports;
class WebhooksDeliveries extends core_js_1.Resource {
 list(webhookId, params, options) {
  return this._list(at `/webhooks/${webhookId}/deliveries`, { items: "deliveries", by: "offset" }, params, options);
 }
 get(webhookId, deliveryId, options) {
  return this._get(at `/webhooks/${webhookId}/deliveries/${deliveryId}`, undefined, options);
 }
 retry(webhookId, deliveryId, options) {
  return this._post(at `/webhooks/${webhookId}/deliveries/${deliveryId}/retry`, undefined, options, { keyed: true });
 }
}
exports.WebhooksDeliveries = WebhooksDeliveries;
class Webhooks extends core_js_1.Resource {
 deliveries = new WebhooksDeliveries(this._client);
 list(params, options) {
  return this._list("/webhooks", { items: "webhooks", by: "offset" }, params, options);
 }
 create(params, options) {
  return this._post("/webhooks", params, options, { keyed: true });
 }
 eventTypes(options) {
  return this._get("/webhooks/events", undefined, options);
 }
 stats(options) {
  return this._get("/webhooks/stats", undefined, options);
 }
 get(webhookId, options) {
  return this._get(at `/webhooks/${webhookId}`, undefined, options);
 }
 update(webhookId, params, options) {
  return this._patch(at `/webhooks/${webhookId}`, params, options);
 }
 delete(webhookId, options) {
  return this._delete(at `/webhooks/${webhookId}`, undefined, options);
 }
 test(webhookId, options) {
  return this._post(at `/webhooks/${webhookId}/test`, undefined, options);
 }
 rotateSecret(webhookId, params, options) {
  return this._post(at `/webhooks/${webhookId}/rotate-secret`, params, options, { keyed: true });
 }
 redeliver(webhookId, params, options) {
  return this._post(at `/webhooks/${webhookId}/redeliver`, params, options, { keyed: true });
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
