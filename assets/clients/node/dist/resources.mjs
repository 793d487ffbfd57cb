import { Client, Resource, path } from "./core.mjs";
const at = path;
export class ProjectsKnowledge extends Resource {
 list(projectId, params, options) {
  return this._list(at `/projects/${projectId}/knowledge-base`, { items: "entries", by: "offset" }, params, options);
 }
 add(projectId, params, options) {
  return this._call("POST", at `/projects/${projectId}/knowledge-base`, params, options, { keyed: true });
 }
 get(projectId, entryId, options) {
  return this._call("GET", at `/projects/${projectId}/knowledge-base/${entryId}`, undefined, options);
 }
 update(projectId, entryId, params, options) {
  return this._call("PUT", at `/projects/${projectId}/knowledge-base/${entryId}`, params, options);
 }
 remove(projectId, entryId, options) {
  return this._call("DELETE", at `/projects/${projectId}/knowledge-base/${entryId}`, undefined, options);
 }
}
export class ProjectsImages extends Resource {
 list(projectId, params, options) {
  return this._list(at `/projects/${projectId}/images`, { items: "images", by: "offset" }, params, options);
 }
 add(projectId, params, options) {
  return this._call("POST", at `/projects/${projectId}/images`, params, options, { keyed: true });
 }
 update(projectId, params, options) {
  return this._call("PUT", at `/projects/${projectId}/images`, params, options);
 }
 remove(projectId, params, options) {
  return this._call("DELETE", at `/projects/${projectId}/images`, params, options);
 }
 upload(projectId, params, options) {
  return this._call("POST", at `/projects/${projectId}/images/upload`, params, options, { keyed: true, base64: "file" });
 }
}
export class ProjectsProducts extends Resource {
 list(projectId, params, options) {
  return this._list(at `/projects/${projectId}/products`, { items: "products", by: "offset" }, params, options);
 }
 add(projectId, params, options) {
  return this._call("POST", at `/projects/${projectId}/products`, params, options);
 }
 update(projectId, productId, params, options) {
  return this._call("PATCH", at `/projects/${projectId}/products/${productId}`, params, options);
 }
 remove(projectId, productId, options) {
  return this._call("DELETE", at `/projects/${projectId}/products/${productId}`, undefined, options);
 }
 merge(projectId, productId, params, options) {
  return this._call("POST", at `/projects/${projectId}/products/${productId}/merge`, params, options);
 }
}
export class ProjectsLogos extends Resource {
 update(projectId, params, options) {
  return this._call("PUT", at `/projects/${projectId}/logos`, params, options);
 }
}
export class ProjectsGuidelines extends Resource {
 update(projectId, params, options) {
  return this._call("PUT", at `/projects/${projectId}/brand-guidelines`, params, options);
 }
}
export class Projects extends Resource {
 knowledge = new ProjectsKnowledge(this._client);
 images = new ProjectsImages(this._client);
 products = new ProjectsProducts(this._client);
 logos = new ProjectsLogos(this._client);
 guidelines = new ProjectsGuidelines(this._client);
 list(params, options) {
  return this._list("/projects", { items: "projects", by: "offset" }, params, options);
 }
 get(projectId, options) {
  return this._call("GET", at `/projects/${projectId}`, undefined, options);
 }
 update(projectId, params, options) {
  return this._call("PATCH", at `/projects/${projectId}`, params, options);
 }
 import(params, options) {
  return this._call("POST", "/projects/import", params, options, { keyed: true });
 }
 importAndWait(params, options) {
  return this._wait((options) => this.import(params, options), (started, options) => this._client.projects.importStatus(started.projectId, options), ["active"], ["error"], options);
 }
 importStatus(projectId, options) {
  return this._call("GET", at `/projects/import/${projectId}/status`, undefined, options);
 }
 importRetry(projectId, options) {
  return this._call("POST", at `/projects/import/${projectId}/retry`, undefined, options);
 }
 importChanges(projectId, options) {
  return this._call("GET", at `/projects/import/${projectId}/changes`, undefined, options);
 }
 importDecide(projectId, params, options) {
  return this._call("POST", at `/projects/import/${projectId}/changes`, params, options);
 }
 imagePreview(projectId, params, options) {
  return this._call("GET", at `/projects/${projectId}/images/preview`, params, options, { answer: "bytes" });
 }
}
export class GoLive extends Resource {
 checklist(projectId, options) {
  return this._call("GET", at `/projects/${projectId}/go-live`, undefined, options);
 }
}
export class Domains extends Resource {
 list(params, options) {
  return this._list("/domains", { by: "offset" }, params, options);
 }
 create(params, options) {
  return this._call("POST", "/domains", params, options, { keyed: true });
 }
 streamCreate(params, options) {
  return this._call("POST", "/domains/streams", params, options, { keyed: true });
 }
 setup(params, options) {
  return this._call("POST", "/domains/setup", params, options, { keyed: true });
 }
 get(domain, options) {
  return this._call("GET", at `/domains/${domain}`, undefined, options);
 }
 update(domain, params, options) {
  return this._call("PATCH", at `/domains/${domain}`, params, options);
 }
 delete(domain, options) {
  return this._call("DELETE", at `/domains/${domain}`, undefined, options);
 }
 verify(domain, options) {
  return this._call("POST", at `/domains/${domain}/verify`, undefined, options);
 }
 rotate(domain, options) {
  return this._call("POST", at `/domains/${domain}/rotate`, undefined, options, { keyed: true });
 }
}
export class Emails extends Resource {
 brief(params, options) {
  return this._call("POST", "/projects/emails/brief", params, options);
 }
 generate(params, options) {
  return this._call("POST", "/projects/emails/generate", params, options, { keyed: true });
 }
 generateAndWait(params, options) {
  return this._wait((options) => this.generate(params, options), (started, options) => this._client.emails.status(started.conversationId, undefined, options), ["completed"], ["failed"], options);
 }
 importHtml(params, options) {
  return this._call("POST", "/projects/emails/import-html", params, options, { keyed: true });
 }
 importHtmlAndWait(params, options) {
  return this._wait((options) => this.importHtml(params, options), (started, options) => this._client.emails.status(started.conversationId, undefined, options), ["completed"], ["failed"], options);
 }
 status(conversationId, params, options) {
  return this._call("GET", at `/projects/emails/${conversationId}/status`, params, options);
 }
 list(params, options) {
  return this._list("/projects/emails", { items: "emails", by: "offset" }, params, options);
 }
 get(emailId, params, options) {
  return this._call("GET", at `/emails/${emailId}`, params, options);
 }
 create(params, options) {
  return this._call("POST", "/emails", params, options, { keyed: true });
 }
 documentUpdate(emailId, params, options) {
  return this._call("PATCH", at `/emails/${emailId}/document`, params, options, { keyed: true });
 }
 edit(emailId, params, options) {
  return this._call("POST", at `/emails/${emailId}/edit`, params, options, { keyed: true });
 }
 editStatus(emailId, editId, options) {
  return this._call("GET", at `/emails/${emailId}/edits/${editId}`, undefined, options);
 }
 versions(emailId, params, options) {
  return this._list(at `/emails/${emailId}/versions`, { items: "versions", by: "offset" }, params, options);
 }
 restore(emailId, version, params, options) {
  return this._call("POST", at `/emails/${emailId}/versions/${version}/restore`, params, options);
 }
 favorite(emailId, params, options) {
  return this._call("PUT", at `/emails/${emailId}/favorite`, params, options);
 }
 checks(emailId, params, options) {
  return this._call("GET", at `/emails/${emailId}/checks`, params, options);
 }
 check(emailId, params, options) {
  return this._call("POST", at `/emails/${emailId}/checks`, params, options);
 }
 findingIgnore(emailId, findingId, params, options) {
  return this._call("PUT", at `/emails/${emailId}/checks/${findingId}/ignored`, params, options);
 }
 findingFix(emailId, findingId, params, options) {
  return this._call("POST", at `/emails/${emailId}/checks/${findingId}/fix`, params, options);
 }
 references(projectId, options) {
  return this._call("GET", at `/projects/${projectId}/references`, undefined, options);
 }
 html(emailId, params, options) {
  return this._call("GET", at `/emails/${emailId}/html`, params, options, { answer: "text" });
 }
 themePreview(projectId, params, options) {
  return this._call("GET", at `/projects/${projectId}/theme-preview`, params, options, { answer: "text" });
 }
 designs(options) {
  return this._call("GET", "/emails/designs", undefined, options);
 }
 designHtml(design, params, options) {
  return this._call("GET", at `/emails/designs/${design}/html`, params, options, { answer: "text" });
 }
}
export class SavedBlocks extends Resource {
 list(projectId, params, options) {
  return this._list(at `/projects/${projectId}/blocks`, { items: "blocks", by: "offset" }, params, options);
 }
 create(projectId, params, options) {
  return this._call("POST", at `/projects/${projectId}/blocks`, params, options, { keyed: true });
 }
 update(projectId, blockId, params, options) {
  return this._call("PATCH", at `/projects/${projectId}/blocks/${blockId}`, params, options);
 }
 delete(projectId, blockId, options) {
  return this._call("DELETE", at `/projects/${projectId}/blocks/${blockId}`, undefined, options);
 }
}
export class Validation extends Resource {
 compatibility(params, options) {
  return this._call("POST", "/emails/validate/compatibility", params, options);
 }
 links(params, options) {
  return this._call("POST", "/emails/validate/links", params, options);
 }
 spelling(params, options) {
  return this._call("POST", "/emails/validate/spelling", params, options);
 }
 deliverability(params, options) {
  return this._call("POST", "/emails/validate/deliverability", params, options);
 }
 all(params, options) {
  return this._call("POST", "/emails/validate/all", params, options);
 }
}
export class Previews extends Resource {
 create(params, options) {
  return this._call("POST", "/emails/previews", params, options, { keyed: true });
 }
 createAndWait(params, options) {
  return this._wait((options) => this.create(params, options), (started, options) => this._client.previews.get(started.previewId, options), ["COMPLETED", "PARTIAL_SUCCESS"], ["FAILED"], options);
 }
 get(previewId, options) {
  return this._call("GET", at `/emails/previews/${previewId}`, undefined, options);
 }
 status(previewId, options) {
  return this._call("GET", at `/emails/previews/${previewId}/status`, undefined, options);
 }
 device(previewId, deviceKey, options) {
  return this._call("GET", at `/emails/previews/${previewId}/devices/${deviceKey}`, undefined, options);
 }
 devices(options) {
  return this._call("GET", "/emails/devices/supported", undefined, options);
 }
}
export class Exports extends Resource {
 html(conversationId, params, options) {
  return this._call("GET", at `/export/html/${conversationId}`, params, options);
 }
 mjml(conversationId, params, options) {
  return this._call("GET", at `/export/mjml/${conversationId}`, params, options);
 }
 png(conversationId, params, options) {
  return this._call("GET", at `/export/png/${conversationId}`, params, options);
 }
 pdf(conversationId, params, options) {
  return this._call("GET", at `/export/pdf/${conversationId}`, params, options);
 }
 platformA(conversationId, params, options) {
  return this._call("GET", at `/export/platform_a/${conversationId}`, params, options);
 }
 platformB(conversationId, params, options) {
  return this._call("GET", at `/export/platform_b/${conversationId}`, params, options);
 }
 platformC(params, options) {
  return this._call("POST", "/export/platform_c", params, options);
 }
 status(conversationId, params, options) {
  return this._call("GET", at `/export/status/${conversationId}`, params, options);
 }
 formats(options) {
  return this._call("GET", "/export/formats", undefined, options);
 }
}
export class Contacts extends Resource {
 list(params, options) {
  return this._list("/contacts", { items: "contacts", by: "offset" }, params, options);
 }
 create(params, options) {
  return this._call("POST", "/contacts", params, options, { keyed: true });
 }
 get(id, params, options) {
  return this._call("GET", at `/contacts/${id}`, params, options);
 }
 update(id, params, options) {
  return this._call("PATCH", at `/contacts/${id}`, params, options);
 }
 delete(id, params, options) {
  return this._call("DELETE", at `/contacts/${id}`, params, options);
 }
 project(id, options) {
  return this._call("GET", at `/contacts/${id}/project`, undefined, options);
 }
 fieldCatalog(projectId, params, options) {
  return this._call("GET", at `/projects/${projectId}/field-catalog`, params, options);
 }
 setStatus(params, options) {
  return this._call("POST", "/contacts/status", params, options);
 }
 unsubscribe(params, options) {
  return this._call("POST", "/subscribers/unsubscribe", params, options);
 }
 bulkDelete(params, options) {
  return this._call("POST", "/contacts/bulk-delete", params, options, { keyed: true });
 }
 bulk(params, options) {
  return this._call("POST", "/contacts/bulk", params, options, { keyed: true });
 }
 bulkStatus(jobId, params, options) {
  return this._call("GET", at `/contacts/bulk/${jobId}`, params, options);
 }
 bulkChange(params, options) {
  return this._call("POST", "/contacts/bulk-change", params, options, { keyed: true });
 }
 bulkChangeStatus(jobId, params, options) {
  return this._call("GET", at `/contacts/bulk-change/${jobId}`, params, options);
 }
 import(params, options) {
  return this._call("POST", "/contacts/imports", params, options, { form: true });
 }
 importAndWait(params, options) {
  return this._wait((options) => this.import(params, options), (started, options) => this._client.contacts.importStatus(started.id, undefined, options), ["completed"], ["failed"], options);
 }
 importStatus(id, params, options) {
  return this._call("GET", at `/contacts/imports/${id}`, params, options);
 }
 importErrors(id, params, options) {
  return this._list(at `/contacts/imports/${id}/errors`, { items: "errors", by: "offset" }, params, options);
 }
 importPreview(id, params, options) {
  return this._call("GET", at `/contacts/imports/${id}/preview`, params, options);
 }
 importStart(id, params, options) {
  return this._call("POST", at `/contacts/imports/${id}/start`, params, options);
 }
 export(params, options) {
  return this._call("POST", "/contacts/exports", params, options);
 }
 exportAndWait(params, options) {
  return this._wait((options) => this.export(params, options), (started, options) => this._client.contacts.exportStatus(started.jobId, { projectId: params.projectId }, options), ["completed"], ["failed"], options);
 }
 exportStatus(jobId, params, options) {
  return this._call("GET", at `/contacts/exports/${jobId}`, params, options);
 }
 jobs(params, options) {
  return this._call("GET", "/contacts/jobs", params, options);
 }
 job(id, options) {
  return this._call("GET", at `/contacts/jobs/${id}`, undefined, options);
 }
 jobSeen(id, params, options) {
  return this._call("POST", at `/contacts/jobs/${id}/seen`, params, options);
 }
 topics(id, params, options) {
  return this._call("GET", at `/contacts/${id}/topics`, params, options);
 }
 topicSubscribe(id, params, options) {
  return this._call("POST", at `/topics/${id}/subscribe`, params, options);
 }
 topicUnsubscribe(id, params, options) {
  return this._call("POST", at `/topics/${id}/unsubscribe`, params, options);
 }
}
export class Connections extends Resource {
 list(params, options) {
  return this._call("GET", "/connections", params, options);
 }
 delete(params, options) {
  return this._call("DELETE", "/connections", params, options);
 }
 create(provider, params, options) {
  return this._call("POST", at `/connections/${provider}`, params, options);
 }
 authorize(provider, params, options) {
  return this._call("POST", at `/connections/${provider}/authorize`, params, options);
 }
 complete(provider, params, options) {
  return this._call("POST", at `/connections/${provider}/complete`, params, options);
 }
 sources(provider, params, options) {
  return this._call("GET", at `/contacts/imports/providers/${provider}/sources`, params, options);
 }
 import(params, options) {
  return this._call("POST", "/contacts/imports/provider", params, options);
 }
 importAndWait(params, options) {
  return this._wait((options) => this.import(params, options), (started, options) => this._client.contacts.importStatus(started.id, undefined, options), ["completed"], ["failed"], options);
 }
}
export class Storefront extends Resource {
 connect(params, options) {
  return this._call("POST", "/storefront/connect", params, options);
 }
 list(params, options) {
  return this._call("GET", "/storefront/stores", params, options);
 }
 sync(serverId, options) {
  return this._call("POST", at `/storefront/stores/${serverId}/sync`, undefined, options);
 }
 disconnect(serverId, options) {
  return this._call("DELETE", at `/storefront/stores/${serverId}`, undefined, options);
 }
}
export class Events extends Resource {
 record(params, options) {
  return this._call("POST", "/events", params, options, { keyed: true });
 }
 batch(params, options) {
  return this._call("POST", "/events/batch", params, options);
 }
 list(id, params, options) {
  return this._list(at `/contacts/${id}/events`, { items: "events", by: "cursor" }, params, options);
 }
 names(projectId, params, options) {
  return this._call("GET", at `/projects/${projectId}/event-names`, params, options);
 }
}
export class Tags extends Resource {
 list(params, options) {
  return this._list("/tags", { items: "tags", by: "offset" }, params, options);
 }
 create(params, options) {
  return this._call("POST", "/tags", params, options, { keyed: true });
 }
 get(id, params, options) {
  return this._call("GET", at `/tags/${id}`, params, options);
 }
 update(id, params, options) {
  return this._call("PATCH", at `/tags/${id}`, params, options);
 }
 delete(id, params, options) {
  return this._call("DELETE", at `/tags/${id}`, params, options);
 }
}
export class Topics extends Resource {
 list(params, options) {
  return this._list("/topics", { items: "topics", by: "offset" }, params, options);
 }
 create(params, options) {
  return this._call("POST", "/topics", params, options, { keyed: true });
 }
 get(id, params, options) {
  return this._call("GET", at `/topics/${id}`, params, options);
 }
 update(id, params, options) {
  return this._call("PATCH", at `/topics/${id}`, params, options);
 }
 delete(id, params, options) {
  return this._call("DELETE", at `/topics/${id}`, params, options);
 }
}
export class Segments extends Resource {
 list(params, options) {
  return this._list("/segments", { items: "segments", by: "offset" }, params, options);
 }
 create(params, options) {
  return this._call("POST", "/segments", params, options);
 }
 preview(params, options) {
  return this._call("POST", "/segments/preview", params, options);
 }
 get(id, params, options) {
  return this._call("GET", at `/segments/${id}`, params, options);
 }
 update(id, params, options) {
  return this._call("PATCH", at `/segments/${id}`, params, options);
 }
 delete(id, params, options) {
  return this._call("DELETE", at `/segments/${id}`, params, options);
 }
 project(id, options) {
  return this._call("GET", at `/segments/${id}/project`, undefined, options);
 }
}
export class Suppressions extends Resource {
 list(params, options) {
  return this._list("/suppressions", { items: "suppressions", by: "offset" }, params, options);
 }
 create(params, options) {
  return this._call("POST", "/suppressions", params, options, { keyed: true });
 }
 delete(email, options) {
  return this._call("DELETE", at `/suppressions/${email}`, undefined, options);
 }
}
export class Tracking extends Resource {
 metrics(emailId, params, options) {
  return this._call("GET", at `/emails/${emailId}/metrics`, params, options);
 }
 logs(emailId, params, options) {
  return this._list(at `/emails/${emailId}/logs`, { items: "emails", by: "cursor" }, params, options);
 }
 personalData(id, params, options) {
  return this._call("GET", at `/contacts/${id}/personal-data`, params, options);
 }
 timeline(id, params, options) {
  return this._list(at `/contacts/${id}/timeline`, { items: "entries", by: "cursor" }, params, options);
 }
}
export class SendingInbox extends Resource {
 list(params, options) {
  return this._list("/inbox", { items: "messages", by: "offset" }, params, options);
 }
 get(id, options) {
  return this._call("GET", at `/inbox/${id}`, undefined, options);
 }
 delete(id, options) {
  return this._call("DELETE", at `/inbox/${id}`, undefined, options);
 }
 html(id, params, options) {
  return this._call("GET", at `/inbox/${id}/html`, params, options, { answer: "text" });
 }
 raw(id, options) {
  return this._call("GET", at `/inbox/${id}/raw`, undefined, options, { answer: "bytes" });
 }
 screenshot(id, options) {
  return this._call("GET", at `/inbox/${id}/screenshot`, undefined, options, { answer: "bytes" });
 }
}
export class Sending extends Resource {
 inbox = new SendingInbox(this._client);
 send(params, options) {
  return this._call("POST", "/sending", params, options, { keyed: true });
 }
 get(sendId, options) {
  return this._call("GET", at `/sending/${sendId}`, undefined, options);
 }
 batch(batchId, options) {
  return this._call("GET", at `/sending/batches/${batchId}`, undefined, options);
 }
 batchCancel(batchId, options) {
  return this._call("POST", at `/sending/batches/${batchId}/cancel`, undefined, options);
 }
 batchResendUnknown(batchId, options) {
  return this._call("POST", at `/sending/batches/${batchId}/resend-unknown`, undefined, options, { keyed: true });
 }
 test(params, options) {
  return this._call("POST", "/emails/test/send", params, options, { keyed: true });
 }
 metrics(params, options) {
  return this._call("GET", "/metrics/sending", params, options);
 }
 timeline(params, options) {
  return this._call("GET", "/metrics/timeline", params, options);
 }
 plan(options) {
  return this._call("GET", "/plan", undefined, options);
 }
}
export class Models extends Resource {
 metrics(params, options) {
  return this._call("GET", "/metrics/models", params, options);
 }
}
export class Campaigns extends Resource {
 create(params, options) {
  return this._call("POST", "/campaigns", params, options, { keyed: true });
 }
 list(params, options) {
  return this._list("/campaigns", { items: "campaigns", by: "offset" }, params, options);
 }
 overview(params, options) {
  return this._list("/campaigns/overview", { items: "campaigns", by: "before" }, params, options);
 }
 get(id, params, options) {
  return this._call("GET", at `/campaigns/${id}`, params, options);
 }
 update(id, params, options) {
  return this._call("PATCH", at `/campaigns/${id}`, params, options);
 }
 delete(id, params, options) {
  return this._call("DELETE", at `/campaigns/${id}`, params, options);
 }
 duplicate(id, params, options) {
  return this._call("POST", at `/campaigns/${id}/duplicate`, params, options, { keyed: true });
 }
 test(id, params, options) {
  return this._call("POST", at `/campaigns/${id}/test`, params, options, { keyed: true });
 }
 dryRun(id, params, options) {
  return this._call("GET", at `/campaigns/${id}/dry-run`, params, options);
 }
 send(id, params, options) {
  return this._call("POST", at `/campaigns/${id}/send`, params, options, { keyed: true });
 }
 schedule(id, params, options) {
  return this._call("POST", at `/campaigns/${id}/schedule`, params, options, { keyed: true });
 }
 reschedule(id, params, options) {
  return this._call("POST", at `/campaigns/${id}/reschedule`, params, options, { keyed: true });
 }
 unschedule(id, params, options) {
  return this._call("POST", at `/campaigns/${id}/unschedule`, params, options);
 }
 pause(id, params, options) {
  return this._call("POST", at `/campaigns/${id}/pause`, params, options);
 }
 resume(id, params, options) {
  return this._call("POST", at `/campaigns/${id}/resume`, params, options);
 }
 cancel(id, params, options) {
  return this._call("POST", at `/campaigns/${id}/cancel`, params, options);
 }
 archive(id, params, options) {
  return this._call("POST", at `/campaigns/${id}/archive`, params, options);
 }
 unarchive(id, params, options) {
  return this._call("POST", at `/campaigns/${id}/unarchive`, params, options);
 }
 stats(id, params, options) {
  return this._call("GET", at `/campaigns/${id}/stats`, params, options);
 }
 report(id, params, options) {
  return this._call("GET", at `/campaigns/${id}/report`, params, options);
 }
 logs(id, params, options) {
  return this._list(at `/campaigns/${id}/logs`, { items: "emails", by: "cursor" }, params, options);
 }
 resendUnknown(id, params, options) {
  return this._call("POST", at `/campaigns/${id}/resend-unknown`, params, options, { keyed: true });
 }
}
export class MailFeedback extends Resource {
 list(params, options) {
  return this._list("/mail-services", { items: "mailServices", by: "offset" }, params, options);
 }
 create(params, options) {
  return this._call("POST", "/mail-services", params, options, { keyed: true });
 }
 get(mailServiceId, options) {
  return this._call("GET", at `/mail-services/${mailServiceId}`, undefined, options);
 }
 update(mailServiceId, params, options) {
  return this._call("PATCH", at `/mail-services/${mailServiceId}`, params, options);
 }
 delete(mailServiceId, options) {
  return this._call("DELETE", at `/mail-services/${mailServiceId}`, undefined, options);
 }
 test(mailServiceId, options) {
  return this._call("POST", at `/mail-services/${mailServiceId}/test`, undefined, options);
 }
}
export class Hooks extends Resource {
 list(params, options) {
  return this._list("/incoming-webhooks", { items: "hooks", by: "offset" }, params, options);
 }
 create(params, options) {
  return this._call("POST", "/incoming-webhooks", params, options, { keyed: true });
 }
 get(hook, options) {
  return this._call("GET", at `/incoming-webhooks/${hook}`, undefined, options);
 }
 update(hook, params, options) {
  return this._call("PATCH", at `/incoming-webhooks/${hook}`, params, options);
 }
 delete(hook, options) {
  return this._call("DELETE", at `/incoming-webhooks/${hook}`, undefined, options);
 }
 deliveries(hook, options) {
  return this._call("GET", at `/incoming-webhooks/${hook}/deliveries`, undefined, options);
 }
 test(hook, params, options) {
  return this._call("POST", at `/incoming-webhooks/${hook}/test`, params, options);
 }
}
export class ScheduledImports extends Resource {
 list(params, options) {
  return this._list("/scheduled-imports", { items: "imports", by: "offset" }, params, options);
 }
 create(params, options) {
  return this._call("POST", "/scheduled-imports", params, options, { keyed: true });
 }
 get(id, options) {
  return this._call("GET", at `/scheduled-imports/${id}`, undefined, options);
 }
 update(id, params, options) {
  return this._call("PATCH", at `/scheduled-imports/${id}`, params, options);
 }
 delete(id, options) {
  return this._call("DELETE", at `/scheduled-imports/${id}`, undefined, options);
 }
 run(id, options) {
  return this._call("POST", at `/scheduled-imports/${id}/run`, undefined, options);
 }
}
export class Webhooks extends Resource {
 list(params, options) {
  return this._list("/webhooks", { items: "webhooks", by: "offset" }, params, options);
 }
 create(params, options) {
  return this._call("POST", "/webhooks", params, options, { keyed: true });
 }
 events(options) {
  return this._call("GET", "/webhooks/events", undefined, options);
 }
 stats(options) {
  return this._call("GET", "/webhooks/stats", undefined, options);
 }
 get(webhookId, options) {
  return this._call("GET", at `/webhooks/${webhookId}`, undefined, options);
 }
 update(webhookId, params, options) {
  return this._call("PATCH", at `/webhooks/${webhookId}`, params, options);
 }
 delete(webhookId, options) {
  return this._call("DELETE", at `/webhooks/${webhookId}`, undefined, options);
 }
 test(webhookId, options) {
  return this._call("POST", at `/webhooks/${webhookId}/test`, undefined, options);
 }
 rotateSecret(webhookId, params, options) {
  return this._call("POST", at `/webhooks/${webhookId}/rotate-secret`, params, options, { keyed: true });
 }
 deliveries(webhookId, params, options) {
  return this._list(at `/webhooks/${webhookId}/deliveries`, { items: "deliveries", by: "offset" }, params, options);
 }
 delivery(webhookId, deliveryId, options) {
  return this._call("GET", at `/webhooks/${webhookId}/deliveries/${deliveryId}`, undefined, options);
 }
 retry(webhookId, deliveryId, options) {
  return this._call("POST", at `/webhooks/${webhookId}/deliveries/${deliveryId}/retry`, undefined, options, { keyed: true });
 }
 redeliver(webhookId, params, options) {
  return this._call("POST", at `/webhooks/${webhookId}/redeliver`, params, options, { keyed: true });
 }
}
export class Mailmill extends Client {
 projects = new Projects(this);
 goLive = new GoLive(this);
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
 tracking = new Tracking(this);
 sending = new Sending(this);
 models = new Models(this);
 campaigns = new Campaigns(this);
 mailFeedback = new MailFeedback(this);
 hooks = new Hooks(this);
 scheduledImports = new ScheduledImports(this);
 webhooks = new Webhooks(this);
}
