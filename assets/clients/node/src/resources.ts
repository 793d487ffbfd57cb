// Written by assets/clients/generator from the OpenAPI document. Change the operation's declaration instead.

import { Client, Resource, path, type CallOptions, type WaitOptions } from "./core.js";
import type { List } from "./list.js";
import type * as t from "./types.js";

const at = path;

export class ProjectsKnowledge extends Resource<Mailmill> {
  /**
   * List a project's knowledge base.
   *
   * Lists the newest entry first. Includes entries from the project's own pages, with the `referenceOrigin` `website`.
   * @example
   * ```ts
   * for await (const item of mailmill.projects.knowledge.list(projectId)) console.log(item);
   * ```
   */
  list(projectId: string, params?: t.ProjectsKnowledgeListParams, options?: CallOptions): List<t.ProjectsKnowledgeListPage, t.KnowledgeView> {
    return this._list(at`/projects/${projectId}/knowledge-base`, { items: "entries", by: "offset" }, params, options);
  }

  /**
   * Add an entry to a project's knowledge base.
   *
   * Emails that are generated afterward can use the entry. Adding the same title and content again returns the existing entry.
   * @example
   * ```ts
   * await mailmill.projects.knowledge.add(projectId, { title: "How we roast", content: "We roast twice a week, in small batches." });
   * ```
   */
  add(projectId: string, params: t.ProjectsKnowledgeAddParams, options?: CallOptions): Promise<t.KnowledgeView> {
    return this._call("POST", at`/projects/${projectId}/knowledge-base`, params, options, { keyed: true });
  }

  /**
   * Get an entry in a project's knowledge base.
   * @example
   * ```ts
   * await mailmill.projects.knowledge.get(projectId, entryId);
   * ```
   */
  get(projectId: string, entryId: string, options?: CallOptions): Promise<t.KnowledgeView> {
    return this._call("GET", at`/projects/${projectId}/knowledge-base/${entryId}`, undefined, options);
  }

  /**
   * Change an entry in a project's knowledge base.
   *
   * If you change an entry that was read from a site, the entry becomes your own: importing the site again does not replace it.
   * @example
   * ```ts
   * await mailmill.projects.knowledge.update(projectId, entryId, );
   * ```
   */
  update(projectId: string, entryId: string, params?: t.ProjectsKnowledgeUpdateParams, options?: CallOptions): Promise<t.KnowledgeView> {
    return this._call("PUT", at`/projects/${projectId}/knowledge-base/${entryId}`, params, options);
  }

  /**
   * Remove an entry from a project's knowledge base.
   *
   * An entry from the project's pages returns when the sites are imported again.
   * @example
   * ```ts
   * await mailmill.projects.knowledge.remove(projectId, entryId);
   * ```
   */
  remove(projectId: string, entryId: string, options?: CallOptions): Promise<t.Removed> {
    return this._call("DELETE", at`/projects/${projectId}/knowledge-base/${entryId}`, undefined, options);
  }
}

export class ProjectsImages extends Resource<Mailmill> {
  /**
   * List a project's images.
   *
   * Images that users added come first, newest first. After them come the images found on the project's pages.
   * @example
   * ```ts
   * for await (const item of mailmill.projects.images.list(projectId)) console.log(item);
   * ```
   */
  list(projectId: string, params?: t.ProjectsImagesListParams, options?: CallOptions): List<t.ProjectsImagesListPage, t.ProjectImageView> {
    return this._list(at`/projects/${projectId}/images`, { items: "images", by: "offset" }, params, options);
  }

  /**
   * Add an image to a project.
   *
   * If the project already has an image with this URL, the new description and tags replace the current ones.
   * @example
   * ```ts
   * await mailmill.projects.images.add(projectId, { url: "https://www.acme.example/images/roastery.jpg" });
   * ```
   */
  add(projectId: string, params: t.ProjectsImagesAddParams, options?: CallOptions): Promise<t.ProjectImageView> {
    return this._call("POST", at`/projects/${projectId}/images`, params, options, { keyed: true });
  }

  /**
   * Change an image's description and tags.
   * @example
   * ```ts
   * await mailmill.projects.images.update(projectId, { imageUrl: "https://www.acme.example/images/roastery.jpg" });
   * ```
   */
  update(projectId: string, params: t.ProjectsImagesUpdateParams, options?: CallOptions): Promise<t.ProjectImageView> {
    return this._call("PUT", at`/projects/${projectId}/images`, params, options);
  }

  /**
   * Remove an image from a project.
   *
   * An uploaded file is kept for another year for the emails that contain it. An image from the site returns when the site is imported again.
   * @example
   * ```ts
   * await mailmill.projects.images.remove(projectId, { imageUrl: "https://www.acme.example/images/roastery.jpg" });
   * ```
   */
  remove(projectId: string, params: t.ProjectsImagesRemoveParams, options?: CallOptions): Promise<t.Removed> {
    return this._call("DELETE", at`/projects/${projectId}/images`, params, options);
  }

  /**
   * Upload an image to a project.
   *
   * For images that are not on the web yet. A GIF is stored unchanged; other files are stored upright, at most 1600 pixels wide, without camera metadata. Email clients load the file from the returned `url`. Uploading the same file again returns the same image. After an image is removed, its file is kept for a year for the emails that contain it.
   * @example
   * ```ts
   * await mailmill.projects.images.upload(projectId, { file: "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7" });
   * ```
   */
  upload(projectId: string, params: t.ProjectsImagesUploadParams, options?: CallOptions): Promise<t.ProjectImageView> {
    return this._call("POST", at`/projects/${projectId}/images/upload`, params, options, { keyed: true, base64: "file" });
  }
}

export class ProjectsProducts extends Resource<Mailmill> {
  /**
   * List a project's products.
   *
   * Lists imported and added products in their order, including hidden products, which emails leave out.
   * @example
   * ```ts
   * for await (const item of mailmill.projects.products.list(projectId)) console.log(item);
   * ```
   */
  list(projectId: string, params?: t.ProjectsProductsListParams, options?: CallOptions): List<t.ProjectsProductsListPage, t.ProductView> {
    return this._list(at`/projects/${projectId}/products`, { items: "products", by: "offset" }, params, options);
  }

  /**
   * Add a product to a project.
   *
   * The product is added after the project's other products. Imports do not change it unless they find a product with its URL or name.
   * @example
   * ```ts
   * await mailmill.projects.products.add(projectId, { name: "Ember bowl" });
   * ```
   */
  add(projectId: string, params: t.ProjectsProductsAddParams, options?: CallOptions): Promise<t.ProductView> {
    return this._call("POST", at`/projects/${projectId}/products`, params, options);
  }

  /**
   * Change a product.
   *
   * The values take precedence over imported values, even after another import.
   * @example
   * ```ts
   * await mailmill.projects.products.update(projectId, productId, );
   * ```
   */
  update(projectId: string, productId: string, params?: t.ProjectsProductsUpdateParams, options?: CallOptions): Promise<t.ProductView> {
    return this._call("PATCH", at`/projects/${projectId}/products/${productId}`, params, options);
  }

  /**
   * Remove a product from a project.
   *
   * An imported product is hidden instead of deleted, so that the next import does not add it again.
   * @example
   * ```ts
   * await mailmill.projects.products.remove(projectId, productId);
   * ```
   */
  remove(projectId: string, productId: string, options?: CallOptions): Promise<t.Removed> {
    return this._call("DELETE", at`/projects/${projectId}/products/${productId}`, undefined, options);
  }

  /**
   * Merge products.
   *
   * The other products are deleted. Imports then recognize their URLs and names as the product that stays.
   * @example
   * ```ts
   * await mailmill.projects.products.merge(projectId, productId, { productIds });
   * ```
   */
  merge(projectId: string, productId: string, params: t.ProjectsProductsMergeParams, options?: CallOptions): Promise<t.ProductView> {
    return this._call("POST", at`/projects/${projectId}/products/${productId}/merge`, params, options);
  }
}

export class ProjectsLogos extends Resource<Mailmill> {
  /**
   * Set a project's logos.
   *
   * These logos take precedence over logos found on the project's sites, even after the sites are imported again.
   * @example
   * ```ts
   * await mailmill.projects.logos.update(projectId, );
   * ```
   */
  update(projectId: string, params?: t.ProjectsLogosUpdateParams, options?: CallOptions): Promise<t.KeptLogos> {
    return this._call("PUT", at`/projects/${projectId}/logos`, params, options);
  }
}

export class ProjectsGuidelines extends Resource<Mailmill> {
  /**
   * Set a project's brand guidelines.
   *
   * The guidelines apply to every email that is generated for the project after the change.
   * @example
   * ```ts
   * await mailmill.projects.guidelines.update(projectId, );
   * ```
   */
  update(projectId: string, params?: t.ProjectsGuidelinesUpdateParams, options?: CallOptions): Promise<t.KeptGuidelines> {
    return this._call("PUT", at`/projects/${projectId}/brand-guidelines`, params, options);
  }
}

export class Projects extends Resource<Mailmill> {
  /** @see {@link ProjectsKnowledge} */
  readonly knowledge = new ProjectsKnowledge(this._client);

  /** @see {@link ProjectsImages} */
  readonly images = new ProjectsImages(this._client);

  /** @see {@link ProjectsProducts} */
  readonly products = new ProjectsProducts(this._client);

  /** @see {@link ProjectsLogos} */
  readonly logos = new ProjectsLogos(this._client);

  /** @see {@link ProjectsGuidelines} */
  readonly guidelines = new ProjectsGuidelines(this._client);

  /**
   * List projects.
   *
   * Lists the newest project first. Use a project's ID as `projectId` in other operations. The fields `description`, `urls`, `logoUrls`, `palette` and `error` are included only with one of the permissions `email:read`, `project:write`, `audience:read` or `campaign:read`.
   *
   * Works with any permission.
   * @example
   * ```ts
   * for await (const item of mailmill.projects.list()) console.log(item);
   * ```
   */
  list(params?: t.ProjectsListParams, options?: CallOptions): List<t.ProjectsListPage, t.ProjectView> {
    return this._list("/projects", { items: "projects", by: "offset" }, params, options);
  }

  /**
   * Get a project.
   *
   * Includes `brand`, the values found on the project's sites or set by users, and `overrides`, the values set by users. Any field of `brand` can be missing.
   * @example
   * ```ts
   * await mailmill.projects.get(projectId);
   * ```
   */
  get(projectId: string, options?: CallOptions): Promise<t.ProjectView> {
    return this._call("GET", at`/projects/${projectId}`, undefined, options);
  }

  /**
   * Correct a project's brand.
   *
   * The values take precedence over values from the project's sites, even after another import. A postal address also appears in existing emails whose footer has no address of its own; other values apply to emails written or rendered after the change.
   * @example
   * ```ts
   * await mailmill.projects.update(projectId, );
   * ```
   */
  update(projectId: string, params?: t.ProjectsUpdateParams, options?: CallOptions): Promise<t.ProjectView> {
    return this._call("PATCH", at`/projects/${projectId}`, params, options);
  }

  /**
   * Import a project from web pages.
   *
   * Returns immediately; the import runs in the background. Emits project.import.started.
   * @example
   * ```ts
   * await mailmill.projects.import({ urls: ["https://www.acme.example"] });
   * ```
   */
  import(params: t.ProjectsImportParams, options?: CallOptions): Promise<t.Accepted> {
    return this._call("POST", "/projects/import", params, options, { keyed: true });
  }

  /**
   * Import a project from web pages, and wait until the job has ended.
   *
   * @throws JobFailedError if the job fails.
   * @example
   * ```ts
   * const status = await mailmill.projects.importAndWait(params, {
   *   onProgress: (status) => console.log(status.status),
   * });
   * ```
   */
  importAndWait(params: t.ProjectsImportParams, options?: WaitOptions<t.ImportView>): Promise<t.ImportView> {
    return this._wait(
      (options) => this.import(params, options),
      (started, options) => this._client.projects.importStatus(started.projectId, options),
      ["active"],
      ["error"],
      options,
    );
  }

  /**
   * Get the state of an import.
   * @example
   * ```ts
   * await mailmill.projects.importStatus(projectId);
   * ```
   */
  importStatus(projectId: string, options?: CallOptions): Promise<t.ImportView> {
    return this._call("GET", at`/projects/import/${projectId}/status`, undefined, options);
  }

  /**
   * Import a project's sites again.
   *
   * Use this operation after a failed import or after a site has changed. Values that users set are kept. Other values that have changed wait until a user accepts them: see `projects.import_changes`. A running import continues.
   * @example
   * ```ts
   * await mailmill.projects.importRetry(projectId);
   * ```
   */
  importRetry(projectId: string, options?: CallOptions): Promise<t.Retried> {
    return this._call("POST", at`/projects/import/${projectId}/retry`, undefined, options);
  }

  /**
   * List the changes found by a repeated import.
   *
   * Values with state `pending` are not used until they are accepted.
   * @example
   * ```ts
   * await mailmill.projects.importChanges(projectId);
   * ```
   */
  importChanges(projectId: string, options?: CallOptions): Promise<t.ImportChangesView> {
    return this._call("GET", at`/projects/import/${projectId}/changes`, undefined, options);
  }

  /**
   * Accept or reject the changes found by a repeated import.
   *
   * Returns the remaining changes. A rejected change is not proposed again by later imports.
   * @example
   * ```ts
   * await mailmill.projects.importDecide(projectId, );
   * ```
   */
  importDecide(projectId: string, params?: t.ProjectsImportDecideParams, options?: CallOptions): Promise<t.ImportChangesView> {
    return this._call("POST", at`/projects/import/${projectId}/changes`, params, options);
  }

  /**
   * Get a small copy of a project's image.
   *
   * Returns PNG or JPEG of at most 480 pixels per side, or an SVG unchanged. The image is fetched once from its server, then cached for two weeks.
   * @example
   * ```ts
   * await mailmill.projects.imagePreview(projectId, { imageUrl: "https://www.acme.example/images/roastery.jpg" });
   * ```
   */
  imagePreview(projectId: string, params: t.ProjectsImagePreviewParams, options?: CallOptions): Promise<Uint8Array> {
    return this._call("GET", at`/projects/${projectId}/images/preview`, params, options, { answer: "bytes" });
  }
}

export class GoLive extends Resource<Mailmill> {
  /**
   * Get what a test project needs to go live.
   *
   * Checks for a verified domain, a postal address and a mail transport, and returns the result of the last copy.
   *
   * For the account's signed-in owner and admins; API keys are rejected.
   * @example
   * ```ts
   * await mailmill.goLive.checklist(projectId);
   * ```
   */
  checklist(projectId: string, options?: CallOptions): Promise<t.GoLiveView> {
    return this._call("GET", at`/projects/${projectId}/go-live`, undefined, options);
  }
}

export class Domains extends Resource<Mailmill> {
  /**
   * List sending domains.
   *
   * Sorted by name. Each DNS record has the result of its last check.
   * @example
   * ```ts
   * for await (const item of mailmill.domains.list()) console.log(item);
   * ```
   */
  list(params?: t.DomainsListParams, options?: CallOptions): List<t.DomainView[], t.DomainView> {
    return this._list("/domains", { by: "offset" }, params, options);
  }

  /**
   * Add a sending domain.
   *
   * Creates the domain's DKIM keys and returns the DNS records to add. The records are checked regularly from then on; POST …/verify checks them immediately. You can send from the domain, and from its subdomains, once one DKIM record is found; the other records are recommended. An existing domain is returned unchanged.
   * @example
   * ```ts
   * await mailmill.domains.create({ domain: "acme.example" });
   * ```
   */
  create(params: t.DomainsCreateParams, options?: CallOptions): Promise<t.DomainView> {
    return this._call("POST", "/domains", params, options, { keyed: true });
  }

  /**
   * Add a sending subdomain for one kind of mail.
   *
   * Keeps the reputation of transactional emails separate from that of campaigns. With vanityRootFrom, the subdomain signs for From addresses at the root, which receivers accept unless the root's DMARC record has adkim=s. An existing subdomain is returned unchanged.
   * @example
   * ```ts
   * await mailmill.domains.streamCreate({ rootDomain: "acme.example", stream: "marketing" });
   * ```
   */
  streamCreate(params: t.DomainsStreamCreateParams, options?: CallOptions): Promise<t.DomainView> {
    return this._call("POST", "/domains/streams", params, options, { keyed: true });
  }

  /**
   * Add both sending subdomains of a root domain.
   *
   * Adds the subdomains send and notify of the root domain, like two calls of POST /v1/domains/streams. Existing subdomains are returned unchanged.
   * @example
   * ```ts
   * await mailmill.domains.setup({ rootDomain: "acme.example" });
   * ```
   */
  setup(params: t.DomainsSetupParams, options?: CallOptions): Promise<t.Subdomains> {
    return this._call("POST", "/domains/setup", params, options, { keyed: true });
  }

  /**
   * Get a sending domain.
   *
   * Includes the last result for each DNS record; POST …/verify checks the records now.
   * @example
   * ```ts
   * await mailmill.domains.get(domain);
   * ```
   */
  get(domain: string, options?: CallOptions): Promise<t.DomainView> {
    return this._call("GET", at`/domains/${domain}`, undefined, options);
  }

  /**
   * Change the tracking of a sending domain.
   *
   * Applies to mail that is prepared after the change. With brandedTracking, the service's certificate must also cover links.<domain>, or the reverse proxy in front of the service must have such a certificate. Until the record of links.<domain> is found, links use this installation's own host.
   * @example
   * ```ts
   * await mailmill.domains.update(domain, );
   * ```
   */
  update(domain: string, params?: t.DomainsUpdateParams, options?: CallOptions): Promise<t.DomainView> {
    return this._call("PATCH", at`/domains/${domain}`, params, options);
  }

  /**
   * Delete a sending domain.
   *
   * Also deletes the domain's DKIM keys; adding the domain again creates new keys. Afterward, live emails from the domain are rejected unless another verified domain signs for them, or the server's settings allow unverified domains. Test emails can still be sent.
   * @example
   * ```ts
   * await mailmill.domains.delete(domain);
   * ```
   */
  delete(domain: string, options?: CallOptions): Promise<t.DeletedDomain> {
    return this._call("DELETE", at`/domains/${domain}`, undefined, options);
  }

  /**
   * Check a domain's DNS records now.
   *
   * A domain is verified once the DNS has one of its DKIM records. A record whose lookup fails gets the status unreachable, which does not affect verification. For a failed domain that was never verified, a call restarts the three-day verification window.
   * @example
   * ```ts
   * await mailmill.domains.verify(domain);
   * ```
   */
  verify(domain: string, options?: CallOptions): Promise<t.Verified> {
    return this._call("POST", at`/domains/${domain}/verify`, undefined, options);
  }

  /**
   * Rotate a domain's DKIM keys.
   *
   * The current keys continue to sign until the records of the new keys are in the DNS. Then keep the old records for another seven days (removeAfter), because mail signed with the old keys may still be in transit. Until the records of the new keys are found, repeated calls create no further keys.
   * @example
   * ```ts
   * await mailmill.domains.rotate(domain);
   * ```
   */
  rotate(domain: string, options?: CallOptions): Promise<t.DomainView> {
    return this._call("POST", at`/domains/${domain}/rotate`, undefined, options, { keyed: true });
  }
}

export class Emails extends Resource<Mailmill> {
  /**
   * Read the brief from a prompt.
   *
   * Returns the facts, instructions and limits that an email for the prompt follows. Writes no email and stores nothing. Spans count Unicode code points from 0.
   * @example
   * ```ts
   * await mailmill.emails.brief({ projectId, prompt: "20% off everything until 30 November with code LOFT20. Keep it short." });
   * ```
   */
  brief(params: t.EmailsBriefParams, options?: CallOptions): Promise<t.Brief> {
    return this._call("POST", "/projects/emails/brief", params, options);
  }

  /**
   * Generate emails.
   *
   * Returns immediately; generation runs in the background. Emits email.generation.started, then email.generation.completed or email.generation.failed.
   * @example
   * ```ts
   * await mailmill.emails.generate({ projectId });
   * ```
   */
  generate(params: t.EmailsGenerateParams, options?: CallOptions): Promise<t.AcceptedGeneration> {
    return this._call("POST", "/projects/emails/generate", params, options, { keyed: true });
  }

  /**
   * Generate emails, and wait until the job has ended.
   *
   * @throws JobFailedError if the job fails.
   * @example
   * ```ts
   * const status = await mailmill.emails.generateAndWait(params, {
   *   onProgress: (status) => console.log(status.status),
   * });
   * ```
   */
  generateAndWait(params: t.EmailsGenerateParams, options?: WaitOptions<t.GenerationStatus>): Promise<t.GenerationStatus> {
    return this._wait(
      (options) => this.generate(params, options),
      (started, options) => this._client.emails.status(started.conversationId, undefined, options),
      ["completed"],
      ["failed"],
      options,
    );
  }

  /**
   * Import emails as HTML.
   *
   * Removes unsafe content and content that email clients do not show, and lists it in the warnings of each email. The screenshots are rendered in the background: poll the status as for a generation. Imported emails can be edited with prompts, shown, exported and sent like generated emails, but have no document and no MJML.
   * @example
   * ```ts
   * await mailmill.emails.importHtml({ projectId });
   * ```
   */
  importHtml(params: t.EmailsImportHtmlParams, options?: CallOptions): Promise<t.AcceptedGeneration> {
    return this._call("POST", "/projects/emails/import-html", params, options, { keyed: true });
  }

  /**
   * Import emails as HTML, and wait until the job has ended.
   *
   * @throws JobFailedError if the job fails.
   * @example
   * ```ts
   * const status = await mailmill.emails.importHtmlAndWait(params, {
   *   onProgress: (status) => console.log(status.status),
   * });
   * ```
   */
  importHtmlAndWait(params: t.EmailsImportHtmlParams, options?: WaitOptions<t.GenerationStatus>): Promise<t.GenerationStatus> {
    return this._wait(
      (options) => this.importHtml(params, options),
      (started, options) => this._client.emails.status(started.conversationId, undefined, options),
      ["completed"],
      ["failed"],
      options,
    );
  }

  /**
   * Get the status of a generation.
   *
   * Poll every two seconds until `status` is completed or failed. A completed generation has at least one email that is ready; failed emails have an error.
   * @example
   * ```ts
   * await mailmill.emails.status(conversationId);
   * ```
   */
  status(conversationId: string, params?: t.EmailsStatusParams, options?: CallOptions): Promise<t.GenerationStatus> {
    return this._call("GET", at`/projects/emails/${conversationId}/status`, params, options);
  }

  /**
   * List generations.
   *
   * Newest first. Each item is a conversation with one or more emails, and shows the subject and thumbnail of its first email.
   * @example
   * ```ts
   * for await (const item of mailmill.emails.list({ projectId })) console.log(item);
   * ```
   */
  list(params: t.EmailsListParams, options?: CallOptions): List<t.EmailsListPage, t.ConversationView> {
    return this._list("/projects/emails", { items: "emails", by: "offset" }, params, options);
  }

  /**
   * Get an email.
   * @example
   * ```ts
   * await mailmill.emails.get(emailId);
   * ```
   */
  get(emailId: string, params?: t.EmailsGetParams, options?: CallOptions): Promise<t.EmailDetails> {
    return this._call("GET", at`/emails/${emailId}`, params, options);
  }

  /**
   * Create an email from a design or a document.
   *
   * The email is ready immediately. Its screenshots follow within seconds.
   * @example
   * ```ts
   * await mailmill.emails.create({ projectId });
   * ```
   */
  create(params: t.EmailsCreateParams, options?: CallOptions): Promise<t.EmailDetails> {
    return this._call("POST", "/emails", params, options, { keyed: true });
  }

  /**
   * Edit the document of an email.
   *
   * Saves the changed document as a new version, and renders the HTML, MJML and text. The screenshots follow within seconds. Imported HTML has no document; edit it with a prompt.
   * @example
   * ```ts
   * await mailmill.emails.documentUpdate(emailId, { operations: [{"op":"set","path":"subject","value":"Welcome to Acme"},{"op":"set","path":"blocks.intro.text","value":"Hello, **we are glad** that you are here."},{"op":"insert","after":"intro","value":{"type":"divider"}},{"op":"move","id":"products","before":"intro"}] });
   * ```
   */
  documentUpdate(emailId: string, params: t.EmailsDocumentUpdateParams, options?: CallOptions): Promise<t.EmailDetails> {
    return this._call("PATCH", at`/emails/${emailId}/document`, params, options, { keyed: true });
  }

  /**
   * Edit an email with a prompt.
   *
   * Returns the changed email, and what was done and not done. With `async`, or after 20 seconds, it returns the edit instead; poll it with GET /v1/emails/{emailId}/edits/{editId}. With `preview`, it returns the changed email without saving it. Earlier versions can be restored. A prompt that is not understood changes nothing.
   * @example
   * ```ts
   * await mailmill.emails.edit(emailId, { prompt: "Make the button green and shorten the intro" });
   * ```
   */
  edit(emailId: string, params: t.EmailsEditParams, options?: CallOptions): Promise<t.Answer> {
    return this._call("POST", at`/emails/${emailId}/edit`, params, options, { keyed: true });
  }

  /**
   * Get the status of an edit.
   * @example
   * ```ts
   * await mailmill.emails.editStatus(emailId, editId);
   * ```
   */
  editStatus(emailId: string, editId: string, options?: CallOptions): Promise<t.EditView> {
    return this._call("GET", at`/emails/${emailId}/edits/${editId}`, undefined, options);
  }

  /**
   * List the versions of an email.
   *
   * Newest first. Each edit creates a version; versions never change. Restore a version with POST …/versions/{version}/restore.
   * @example
   * ```ts
   * for await (const item of mailmill.emails.versions(emailId)) console.log(item);
   * ```
   */
  versions(emailId: string, params?: t.EmailsVersionsParams, options?: CallOptions): List<t.EmailsVersionsPage, t.VersionView> {
    return this._list(at`/emails/${emailId}/versions`, { items: "versions", by: "offset" }, params, options);
  }

  /**
   * Restore a version of an email.
   *
   * Creates a new version with the content of the selected version. The other versions do not change. Restoring the current version has no effect.
   * @example
   * ```ts
   * await mailmill.emails.restore(emailId, version, );
   * ```
   */
  restore(emailId: string, version: string, params?: t.EmailsRestoreParams, options?: CallOptions): Promise<t.EmailView> {
    return this._call("POST", at`/emails/${emailId}/versions/${version}/restore`, params, options);
  }

  /**
   * Mark or unmark an email as a favorite.
   * @example
   * ```ts
   * await mailmill.emails.favorite(emailId, { favorite: true });
   * ```
   */
  favorite(emailId: string, params: t.EmailsFavoriteParams, options?: CallOptions): Promise<t.Marked> {
    return this._call("PUT", at`/emails/${emailId}/favorite`, params, options);
  }

  /**
   * Get the checks of an email.
   *
   * Every version of an email is checked in the background: email clients, links, spelling, deliverability and accessibility. The result is stored with the version.
   * @example
   * ```ts
   * await mailmill.emails.checks(emailId);
   * ```
   */
  checks(emailId: string, params?: t.EmailsChecksParams, options?: CallOptions): Promise<t.EmailChecks> {
    return this._call("GET", at`/emails/${emailId}/checks`, params, options);
  }

  /**
   * Run the checks of an email now.
   *
   * Checks the current version, requests the URLs of its links, and stores the result, which takes up to 15 seconds. Use it before you send an email that was checked long ago: links can break at any time.
   * @example
   * ```ts
   * await mailmill.emails.check(emailId, );
   * ```
   */
  check(emailId: string, params?: t.EmailsCheckParams, options?: CallOptions): Promise<t.EmailChecks> {
    return this._call("POST", at`/emails/${emailId}/checks`, params, options);
  }

  /**
   * Ignore a finding of an email.
   *
   * An ignored finding is no longer a warning of the email or of its campaigns, also in later versions of the email. The scores still count it, so that ignoring a finding does not bypass the minimum score of a campaign. With `ignored` false, the finding is a warning again.
   * @example
   * ```ts
   * await mailmill.emails.findingIgnore(emailId, findingId, { ignored: true });
   * ```
   */
  findingIgnore(emailId: string, findingId: string, params: t.EmailsFindingIgnoreParams, options?: CallOptions): Promise<t.EmailChecks> {
    return this._call("PUT", at`/emails/${emailId}/checks/${findingId}/ignored`, params, options);
  }

  /**
   * Fix a finding of an email.
   *
   * Applies the suggestion or the replacement of a finding that is `fixable`, and saves the result as a new version. The new version is checked in the background.
   * @example
   * ```ts
   * await mailmill.emails.findingFix(emailId, findingId, );
   * ```
   */
  findingFix(emailId: string, findingId: string, params?: t.EmailsFindingFixParams, options?: CallOptions): Promise<t.EmailView> {
    return this._call("POST", at`/emails/${emailId}/checks/${findingId}/fix`, params, options);
  }

  /**
   * List favorite emails.
   *
   * To use a favorite as a pattern, generate emails with the favorite's `conversationId` as `referenceId`.
   * @example
   * ```ts
   * await mailmill.emails.references(projectId);
   * ```
   */
  references(projectId: string, options?: CallOptions): Promise<t.ReferencesView> {
    return this._call("GET", at`/projects/${projectId}/references`, undefined, options);
  }

  /**
   * Show an email as a page.
   *
   * Merge fields show their defaults or, without a default, their names. The page runs no scripts and sends no data. It loads no remote images unless `images` is true. Its links open in a new window.
   * @example
   * ```ts
   * await mailmill.emails.html(emailId);
   * ```
   */
  html(emailId: string, params?: t.EmailsHtmlParams, options?: CallOptions): Promise<string> {
    return this._call("GET", at`/emails/${emailId}/html`, params, options, { answer: "text" });
  }

  /**
   * Show a sample email in a brand's theme.
   *
   * Colors, fonts and the corner radius in the query replace the brand's own values without saving them.
   * @example
   * ```ts
   * await mailmill.emails.themePreview(projectId);
   * ```
   */
  themePreview(projectId: string, params?: t.EmailsThemePreviewParams, options?: CallOptions): Promise<string> {
    return this._call("GET", at`/projects/${projectId}/theme-preview`, params, options, { answer: "text" });
  }

  /**
   * List starting designs.
   *
   * A design is an email without facts about any brand. The texts that users must replace are in brackets. Its colors, fonts, images and products are the brand's.
   * @example
   * ```ts
   * await mailmill.emails.designs();
   * ```
   */
  designs(options?: CallOptions): Promise<t.DesignList> {
    return this._call("GET", "/emails/designs", undefined, options);
  }

  /**
   * Show a starting design as a page.
   *
   * Renders the design in the theme of the project's brand, in the same way as `POST /v1/emails`.
   * @example
   * ```ts
   * await mailmill.emails.designHtml(design, { projectId });
   * ```
   */
  designHtml(design: string, params: t.EmailsDesignHtmlParams, options?: CallOptions): Promise<string> {
    return this._call("GET", at`/emails/designs/${design}/html`, params, options, { answer: "text" });
  }
}

export class SavedBlocks extends Resource<Mailmill> {
  /**
   * List saved blocks.
   *
   * Lists the newest block first.
   * @example
   * ```ts
   * for await (const item of mailmill.savedBlocks.list(projectId)) console.log(item);
   * ```
   */
  list(projectId: string, params?: t.SavedBlocksListParams, options?: CallOptions): List<t.SavedBlocksListPage, t.SavedBlockView> {
    return this._list(at`/projects/${projectId}/blocks`, { items: "blocks", by: "offset" }, params, options);
  }

  /**
   * Save a block for other emails.
   * @example
   * ```ts
   * await mailmill.savedBlocks.create(projectId, { name: "Opening hours", block: {"type":"text","text":"Open **Monday to Friday**"} });
   * ```
   */
  create(projectId: string, params: t.SavedBlocksCreateParams, options?: CallOptions): Promise<t.SavedBlockView> {
    return this._call("POST", at`/projects/${projectId}/blocks`, params, options, { keyed: true });
  }

  /**
   * Rename a saved block.
   * @example
   * ```ts
   * await mailmill.savedBlocks.update(projectId, blockId, { name: "Hours" });
   * ```
   */
  update(projectId: string, blockId: string, params: t.SavedBlocksUpdateParams, options?: CallOptions): Promise<t.SavedBlockView> {
    return this._call("PATCH", at`/projects/${projectId}/blocks/${blockId}`, params, options);
  }

  /**
   * Delete a saved block.
   *
   * Emails that contain the block keep it.
   * @example
   * ```ts
   * await mailmill.savedBlocks.delete(projectId, blockId);
   * ```
   */
  delete(projectId: string, blockId: string, options?: CallOptions): Promise<t.DeletedBlock> {
    return this._call("DELETE", at`/projects/${projectId}/blocks/${blockId}`, undefined, options);
  }
}

export class Validation extends Resource<Mailmill> {
  /**
   * Check an email in email clients.
   *
   * Compares the HTML and CSS of the email with the support tables of caniemail.com. Notes of the tables are evaluated: a feature whose exception does not occur in the email is not reported. Each finding has its effect, its places, the number of affected elements, and a remedy.
   * @example
   * ```ts
   * await mailmill.validation.compatibility();
   * ```
   */
  compatibility(params?: t.ValidationCompatibilityParams, options?: CallOptions): Promise<t.CompatibilityReport> {
    return this._call("POST", "/emails/validate/compatibility", params, options);
  }

  /**
   * Check the links of an email.
   *
   * Requests each URL of the email once, with HEAD and, if that fails, with GET for one byte. URLs that could change something, such as an unsubscribe or confirmation link, get only HEAD requests. Requests are sent only to public addresses, also after redirects. At most 200 URLs are requested, two of one domain at a time. If the time of the request runs out, the remaining URLs have the status `skipped`, and `metadata.complete` is false. Results are cached for 60 seconds.
   * @example
   * ```ts
   * await mailmill.validation.links();
   * ```
   */
  links(params?: t.ValidationLinksParams, options?: CallOptions): Promise<t.LinkAnalysis> {
    return this._call("POST", "/emails/validate/links", params, options);
  }

  /**
   * Check the spelling of an email.
   *
   * Dictionaries for English, Dutch, French, Spanish, Portuguese, Russian, Danish and Polish are built in; further ones are read from the folder in the setting validation.dictionaries and from /usr/share/hunspell. A language without a dictionary is listed in `metadata.languagesWithoutDictionary`.
   * @example
   * ```ts
   * await mailmill.validation.spelling();
   * ```
   */
  spelling(params?: t.ValidationSpellingParams, options?: CallOptions): Promise<t.SpellingAnalysis> {
    return this._call("POST", "/emails/validate/spelling", params, options);
  }

  /**
   * Predict the deliverability of an email.
   *
   * Judges the content with rules and with a model of words, and checks the DNS records of the sender's domain within 3 seconds. Content does not show the sender's reputation, which decides most: `confidence` is at most 0.8. If the DNS does not answer in time, `authentication` is absent, and the score does not depend on it.
   * @example
   * ```ts
   * await mailmill.validation.deliverability();
   * ```
   */
  deliverability(params?: t.ValidationDeliverabilityParams, options?: CallOptions): Promise<t.DeliverabilityAnalysis> {
    return this._call("POST", "/emails/validate/deliverability", params, options);
  }

  /**
   * Run all checks of an email.
   *
   * Runs the checks at the same time, each with its own time limit. If a check does not finish, the report contains the other checks, and `metadata.checksIncomplete` names it.
   * @example
   * ```ts
   * await mailmill.validation.all();
   * ```
   */
  all(params?: t.ValidationAllParams, options?: CallOptions): Promise<t.ValidationReport> {
    return this._call("POST", "/emails/validate/all", params, options);
  }
}

export class Previews extends Resource<Mailmill> {
  /**
   * Preview an email on devices.
   *
   * Returns immediately; the devices are drawn in the background, within seconds. Each picture is a simulation: a browser engine draws the parts of the email that the client keeps. The same content on the same device is drawn once: then `cached` is true. Previews are kept for a week.
   * @example
   * ```ts
   * await mailmill.previews.create();
   * ```
   */
  create(params?: t.PreviewsCreateParams, options?: CallOptions): Promise<t.PreviewView> {
    return this._call("POST", "/emails/previews", params, options, { keyed: true });
  }

  /**
   * Preview an email on devices, and wait until the job has ended.
   *
   * @throws JobFailedError if the job fails.
   * @example
   * ```ts
   * const status = await mailmill.previews.createAndWait(params, {
   *   onProgress: (status) => console.log(status.status),
   * });
   * ```
   */
  createAndWait(params?: t.PreviewsCreateParams, options?: WaitOptions<t.PreviewView>): Promise<t.PreviewView> {
    return this._wait(
      (options) => this.create(params, options),
      (started, options) => this._client.previews.get(started.previewId, options),
      ["COMPLETED","PARTIAL_SUCCESS"],
      ["FAILED"],
      options,
    );
  }

  /**
   * Get a preview.
   * @example
   * ```ts
   * await mailmill.previews.get(previewId);
   * ```
   */
  get(previewId: string, options?: CallOptions): Promise<t.PreviewView> {
    return this._call("GET", at`/emails/previews/${previewId}`, undefined, options);
  }

  /**
   * Get the status of a preview.
   * @example
   * ```ts
   * await mailmill.previews.status(previewId);
   * ```
   */
  status(previewId: string, options?: CallOptions): Promise<t.PreviewStatusView> {
    return this._call("GET", at`/emails/previews/${previewId}/status`, undefined, options);
  }

  /**
   * Get one device of a preview.
   * @example
   * ```ts
   * await mailmill.previews.device(previewId, deviceKey);
   * ```
   */
  device(previewId: string, deviceKey: string, options?: CallOptions): Promise<t.OneDeviceView> {
    return this._call("GET", at`/emails/previews/${previewId}/devices/${deviceKey}`, undefined, options);
  }

  /**
   * List the devices of previews.
   * @example
   * ```ts
   * await mailmill.previews.devices();
   * ```
   */
  devices(options?: CallOptions): Promise<t.SupportedDevices> {
    return this._call("GET", "/emails/devices/supported", undefined, options);
  }
}

export class Exports extends Resource<Mailmill> {
  /**
   * Export emails as HTML.
   *
   * Creates one file for each finished email in the conversation, with merge fields that are not filled in.
   * @example
   * ```ts
   * await mailmill.exports.html(conversationId);
   * ```
   */
  html(conversationId: string, params?: t.ExportsHtmlParams, options?: CallOptions): Promise<t.EmailExport> {
    return this._call("GET", at`/export/html/${conversationId}`, params, options);
  }

  /**
   * Export emails as MJML.
   *
   * Creates one file for each finished email in the conversation. Emails imported as HTML have no MJML.
   * @example
   * ```ts
   * await mailmill.exports.mjml(conversationId);
   * ```
   */
  mjml(conversationId: string, params?: t.ExportsMjmlParams, options?: CallOptions): Promise<t.EmailExport> {
    return this._call("GET", at`/export/mjml/${conversationId}`, params, options);
  }

  /**
   * Export emails as PNG.
   *
   * Creates one file for each finished email in the conversation: the whole email, 600 pixels wide, at twice the resolution.
   * @example
   * ```ts
   * await mailmill.exports.png(conversationId);
   * ```
   */
  png(conversationId: string, params?: t.ExportsPngParams, options?: CallOptions): Promise<t.EmailExport> {
    return this._call("GET", at`/export/png/${conversationId}`, params, options);
  }

  /**
   * Export emails as PDF.
   *
   * Creates one file for each finished email in the conversation, with searchable text and working links.
   * @example
   * ```ts
   * await mailmill.exports.pdf(conversationId);
   * ```
   */
  pdf(conversationId: string, params?: t.ExportsPdfParams, options?: CallOptions): Promise<t.EmailExport> {
    return this._call("GET", at`/export/pdf/${conversationId}`, params, options);
  }

  /**
   * Export emails for Klaviyo.
   *
   * Creates a template or draft in the connected account for each finished email in the conversation, with merge fields and unsubscribe links in the platform's syntax. Exporting an email again updates what the first export created, unless it was deleted or sent. Needs email:write in addition. With as=file, creates files to upload instead, which need no connected account. Fields without a counterpart are removed and listed in untranslated.
   * @example
   * ```ts
   * await mailmill.exports.platformA(conversationId);
   * ```
   */
  platformA(conversationId: string, params?: t.ExportsPlatformAParams, options?: CallOptions): Promise<t.EmailExport> {
    return this._call("GET", at`/export/platform_a/${conversationId}`, params, options);
  }

  /**
   * Export emails for Mailchimp.
   *
   * Creates a template or draft in the connected account for each finished email in the conversation, with merge fields and unsubscribe links in the platform's syntax. Exporting an email again updates what the first export created, unless it was deleted or sent. Needs email:write in addition. With as=file, creates files to upload instead, which need no connected account. Fields without a counterpart are removed and listed in untranslated.
   * @example
   * ```ts
   * await mailmill.exports.platformB(conversationId);
   * ```
   */
  platformB(conversationId: string, params?: t.ExportsPlatformBParams, options?: CallOptions): Promise<t.EmailExport> {
    return this._call("GET", at`/export/platform_b/${conversationId}`, params, options);
  }

  /**
   * Export emails for HubSpot.
   *
   * Creates a template or draft in the connected account for each finished email in the conversation, with merge fields and unsubscribe links in the platform's syntax. Exporting an email again updates what the first export created, unless it was deleted or sent. Needs email:write in addition. With as=file, creates files to upload instead, which need no connected account. Fields without a counterpart are removed and listed in untranslated.
   * @example
   * ```ts
   * await mailmill.exports.platformC({ conversationId });
   * ```
   */
  platformC(params: t.ExportsPlatformCParams, options?: CallOptions): Promise<t.EmailExport> {
    return this._call("POST", "/export/platform_c", params, options);
  }

  /**
   * Get the export status.
   * @example
   * ```ts
   * await mailmill.exports.status(conversationId);
   * ```
   */
  status(conversationId: string, params?: t.ExportsStatusParams, options?: CallOptions): Promise<t.ExportStatusView> {
    return this._call("GET", at`/export/status/${conversationId}`, params, options);
  }

  /**
   * List export formats.
   * @example
   * ```ts
   * await mailmill.exports.formats();
   * ```
   */
  formats(options?: CallOptions): Promise<t.FormatsView> {
    return this._call("GET", "/export/formats", undefined, options);
  }
}

export class Contacts extends Resource<Mailmill> {
  /**
   * List and search contacts.
   *
   * All filters must match. Lists the newest first, unless a search ranks the contacts or sortBy is set. A search right after a write by the same key or session finds what was written; add refresh=true to also find all writes by others.
   * @example
   * ```ts
   * for await (const item of mailmill.contacts.list({ projectId })) console.log(item);
   * ```
   */
  list(params: t.ContactsListParams, options?: CallOptions): List<t.ContactsListPage, t.ContactView> {
    return this._list("/contacts", { items: "contacts", by: "offset" }, params, options);
  }

  /**
   * Add a contact.
   *
   * Emits subscriber.added. Returns 409 if a contact in the project has this email; data.id is then the ID of that contact.
   * @example
   * ```ts
   * await mailmill.contacts.create({ projectId, email: "ada@example.com" });
   * ```
   */
  create(params: t.ContactsCreateParams, options?: CallOptions): Promise<t.ContactView> {
    return this._call("POST", "/contacts", params, options, { keyed: true });
  }

  /**
   * Get a contact.
   * @example
   * ```ts
   * await mailmill.contacts.get(id, { projectId });
   * ```
   */
  get(id: string, params: t.ContactsGetParams, options?: CallOptions): Promise<t.ContactView> {
    return this._call("GET", at`/contacts/${id}`, params, options);
  }

  /**
   * Change a contact.
   *
   * Emits subscriber.updated, and subscriber.unsubscribed when the status becomes unsubscribed. An update that changes nothing emits no event.
   * @example
   * ```ts
   * await mailmill.contacts.update(id, { projectId });
   * ```
   */
  update(id: string, params: t.ContactsUpdateParams, options?: CallOptions): Promise<t.ContactView> {
    return this._call("PATCH", at`/contacts/${id}`, params, options);
  }

  /**
   * Delete a contact.
   *
   * Emits subscriber.unsubscribed with action "deleted". All other data about the contact is erased within seconds after the response: sent emails, activity, customer events, messages in the built-in inbox, pending webhook events, and responses kept for idempotent retries. Anonymous counts remain. If the contact had unsubscribed, bounced or complained, a keyed hash of its address remains too, so that it is not mailed again by mistake.
   * @example
   * ```ts
   * await mailmill.contacts.delete(id, { projectId });
   * ```
   */
  delete(id: string, params: t.ContactsDeleteParams, options?: CallOptions): Promise<t.DeletedContact> {
    return this._call("DELETE", at`/contacts/${id}`, params, options);
  }

  /**
   * Get the project of a contact.
   *
   * All other contact operations also require the project ID, so store both IDs instead of calling this operation each time.
   * @example
   * ```ts
   * await mailmill.contacts.project(id);
   * ```
   */
  project(id: string, options?: CallOptions): Promise<t.OwningProject> {
    return this._call("GET", at`/contacts/${id}/project`, undefined, options);
  }

  /**
   * List the contact fields.
   *
   * Examines at most the newest 50,000 of the selected contacts.
   * @example
   * ```ts
   * await mailmill.contacts.fieldCatalog(projectId);
   * ```
   */
  fieldCatalog(projectId: string, params?: t.ContactsFieldCatalogParams, options?: CallOptions): Promise<t.Catalog> {
    return this._call("GET", at`/projects/${projectId}/field-catalog`, params, options);
  }

  /**
   * Change a contact's status.
   *
   * This is an explicit status change, so every transition is allowed. Emits subscriber.unsubscribed with action "status_changed" when the contact becomes unsubscribed, and with action "tags_left" when only tags are removed; no other change emits an event.
   * @example
   * ```ts
   * await mailmill.contacts.setStatus({ projectId, email: "ada@example.com", status: "unsubscribed" });
   * ```
   */
  setStatus(params: t.ContactsSetStatusParams, options?: CallOptions): Promise<t.Success> {
    return this._call("POST", "/contacts/status", params, options);
  }

  /**
   * Unsubscribe a contact.
   *
   * Emits subscriber.unsubscribed with action "unsubscribed", or "tags_left" if only tags are removed. Repeating the request changes nothing and emits no event.
   *
   * The token of a signed-in user is accepted in place of a key, with the permissions of the user's role.
   * @example
   * ```ts
   * await mailmill.contacts.unsubscribe({ email: "ada@example.com", projectId });
   * ```
   */
  unsubscribe(params: t.ContactsUnsubscribeParams, options?: CallOptions): Promise<t.Success> {
    return this._call("POST", "/subscribers/unsubscribe", params, options);
  }

  /**
   * Delete contacts by email.
   *
   * Emits subscriber.unsubscribed with action "deleted" for each deleted contact.
   * @example
   * ```ts
   * await mailmill.contacts.bulkDelete({ projectId, emails: ["ada@example.com","unknown@example.com"] });
   * ```
   */
  bulkDelete(params: t.ContactsBulkDeleteParams, options?: CallOptions): Promise<t.DeletedContacts> {
    return this._call("POST", "/contacts/bulk-delete", params, options, { keyed: true });
  }

  /**
   * Add or update many contacts.
   *
   * A contact whose email the project already has is updated: new values replace existing values, tags are added, customFields are merged, and the status changes only if that does not override the contact's own choice. Up to 5,000 contacts are processed immediately; a larger request becomes a job. Emits subscriber.unsubscribed for each contact that becomes unsubscribed, and subscriber.bulk_imported once, when all rows have been processed.
   * @example
   * ```ts
   * await mailmill.contacts.bulk({ projectId, subscribers: [{"email":"ada@example.com","firstName":"Ada","tags":["newsletter"]},{"email":"grace@example.com","status":"subscribed"}] });
   * ```
   */
  bulk(params: t.ContactsBulkParams, options?: CallOptions): Promise<t.Outcome> {
    return this._call("POST", "/contacts/bulk", params, options, { keyed: true });
  }

  /**
   * Get the progress of a bulk write.
   *
   * Returns finished jobs until 30 days after they end.
   * @example
   * ```ts
   * await mailmill.contacts.bulkStatus(jobId);
   * ```
   */
  bulkStatus(jobId: string, params?: t.ContactsBulkStatusParams, options?: CallOptions): Promise<t.BulkProgress> {
    return this._call("GET", at`/contacts/bulk/${jobId}`, params, options);
  }

  /**
   * Make the same change to many contacts.
   *
   * Each contact is changed as if by its own request, and the same events are emitted. Contacts listed in `ids` are changed immediately; `all` starts a job, which does not change contacts added later.
   * @example
   * ```ts
   * await mailmill.contacts.bulkChange({ projectId });
   * ```
   */
  bulkChange(params: t.ContactsBulkChangeParams, options?: CallOptions): Promise<t.BulkChangeDone> {
    return this._call("POST", "/contacts/bulk-change", params, options, { keyed: true });
  }

  /**
   * Get the progress of a bulk change.
   *
   * Returns finished jobs until 30 days after they end.
   * @example
   * ```ts
   * await mailmill.contacts.bulkChangeStatus(jobId);
   * ```
   */
  bulkChangeStatus(jobId: string, params?: t.ContactsBulkChangeStatusParams, options?: CallOptions): Promise<t.BulkChangeProgress> {
    return this._call("GET", at`/contacts/bulk-change/${jobId}`, params, options);
  }

  /**
   * Import contacts from a CSV file.
   *
   * Accepts multipart/form-data. Returns once the file has been stored; GET /v1/contacts/imports/{id} returns the progress. An invalid row does not affect the others. An existing status changes only if that does not override the contact's own choice. Emits subscriber.unsubscribed for each contact that becomes unsubscribed, and subscriber.bulk_imported once, when all rows have been processed.
   * @example
   * ```ts
   * await mailmill.contacts.import(params);
   * ```
   */
  import(params: t.ContactsImportParams, options?: CallOptions): Promise<t.ImportStarted> {
    return this._call("POST", "/contacts/imports", params, options, { form: true });
  }

  /**
   * Import contacts from a CSV file, and wait until the job has ended.
   *
   * @throws JobFailedError if the job fails.
   * @example
   * ```ts
   * const status = await mailmill.contacts.importAndWait(params, {
   *   onProgress: (status) => console.log(status.status),
   * });
   * ```
   */
  importAndWait(params: t.ContactsImportParams, options?: WaitOptions<t.ImportProgress>): Promise<t.ImportProgress> {
    return this._wait(
      (options) => this.import(params, options),
      (started, options) => this._client.contacts.importStatus(started.id, undefined, options),
      ["completed"],
      ["failed"],
      options,
    );
  }

  /**
   * Get the progress of an import.
   *
   * Returns finished imports until 30 days after they end.
   * @example
   * ```ts
   * await mailmill.contacts.importStatus(id);
   * ```
   */
  importStatus(id: string, params?: t.ContactsImportStatusParams, options?: CallOptions): Promise<t.ImportProgress> {
    return this._call("GET", at`/contacts/imports/${id}`, params, options);
  }

  /**
   * List the row errors of an import.
   *
   * Lists errors in the order of the file. Only the first thousand are kept; the import's counts show how many rows failed.
   * @example
   * ```ts
   * for await (const item of mailmill.contacts.importErrors(id)) console.log(item);
   * ```
   */
  importErrors(id: string, params?: t.ContactsImportErrorsParams, options?: CallOptions): List<t.ContactsImportErrorsPage, t.ImportError> {
    return this._list(at`/contacts/imports/${id}/errors`, { items: "errors", by: "offset" }, params, options);
  }

  /**
   * Preview a file before its import.
   *
   * For a file that was uploaded with `hold`. Returns 409 once the import has started.
   * @example
   * ```ts
   * await mailmill.contacts.importPreview(id);
   * ```
   */
  importPreview(id: string, params?: t.ContactsImportPreviewParams, options?: CallOptions): Promise<t.ImportPreviewed> {
    return this._call("GET", at`/contacts/imports/${id}/preview`, params, options);
  }

  /**
   * Import an uploaded file.
   *
   * For a file that was uploaded with `hold`. Starting the same import again returns 409.
   * @example
   * ```ts
   * await mailmill.contacts.importStart(id, );
   * ```
   */
  importStart(id: string, params?: t.ContactsImportStartParams, options?: CallOptions): Promise<t.ImportStarted> {
    return this._call("POST", at`/contacts/imports/${id}/start`, params, options);
  }

  /**
   * Export contacts to a CSV file.
   *
   * GET /v1/contacts/exports/{jobId} returns the status and, for one hour, the link to the file. In the file, cells that a spreadsheet would interpret as a formula start with an apostrophe, which an import removes.
   * @example
   * ```ts
   * await mailmill.contacts.export({ projectId });
   * ```
   */
  export(params: t.ContactsExportParams, options?: CallOptions): Promise<t.ExportView> {
    return this._call("POST", "/contacts/exports", params, options);
  }

  /**
   * Export contacts to a CSV file, and wait until the job has ended.
   *
   * @throws JobFailedError if the job fails.
   * @example
   * ```ts
   * const status = await mailmill.contacts.exportAndWait(params, {
   *   onProgress: (status) => console.log(status.status),
   * });
   * ```
   */
  exportAndWait(params: t.ContactsExportParams, options?: WaitOptions<t.ExportView>): Promise<t.ExportView> {
    return this._wait(
      (options) => this.export(params, options),
      (started, options) => this._client.contacts.exportStatus(started.jobId, { projectId: params.projectId }, options),
      ["completed"],
      ["failed"],
      options,
    );
  }

  /**
   * Get the progress of an export.
   *
   * Once the file has been written, the response contains downloadUrl for one hour.
   * @example
   * ```ts
   * await mailmill.contacts.exportStatus(jobId, { projectId });
   * ```
   */
  exportStatus(jobId: string, params: t.ContactsExportStatusParams, options?: CallOptions): Promise<t.ExportView> {
    return this._call("GET", at`/contacts/exports/${jobId}`, params, options);
  }

  /**
   * List the newest imports, exports and bulk changes.
   *
   * Lists jobs in any state. Finished jobs are deleted 30 days after they end; uploaded files whose import has not started, after one day.
   * @example
   * ```ts
   * await mailmill.contacts.jobs();
   * ```
   */
  jobs(params?: t.ContactsJobsParams, options?: CallOptions): Promise<t.ContactJobs> {
    return this._call("GET", "/contacts/jobs", params, options);
  }

  /**
   * Get the kind, project and status of a contacts job.
   *
   * Returns finished jobs until 30 days after they end. The operations for each kind of job return more details.
   * @example
   * ```ts
   * await mailmill.contacts.job(id);
   * ```
   */
  job(id: string, options?: CallOptions): Promise<t.ContactJob> {
    return this._call("GET", at`/contacts/jobs/${id}`, undefined, options);
  }

  /**
   * Acknowledge a failed import, export or bulk change.
   *
   * The job stays in the list but no longer needs attention. Repeating the request changes nothing.
   * @example
   * ```ts
   * await mailmill.contacts.jobSeen(id, );
   * ```
   */
  jobSeen(id: string, params?: t.ContactsJobSeenParams, options?: CallOptions): Promise<t.ContactJob> {
    return this._call("POST", at`/contacts/jobs/${id}/seen`, params, options);
  }

  /**
   * List a contact's topic subscriptions.
   *
   * Returns every topic in the project, including inactive topics.
   * @example
   * ```ts
   * await mailmill.contacts.topics(id, { projectId });
   * ```
   */
  topics(id: string, params: t.ContactsTopicsParams, options?: CallOptions): Promise<t.TopicChoices> {
    return this._call("GET", at`/contacts/${id}/topics`, params, options);
  }

  /**
   * Subscribe a contact to a topic.
   *
   * Stores the contact's explicit choice, which overrides the topic's default. The contact's status does not change.
   * @example
   * ```ts
   * await mailmill.contacts.topicSubscribe(id, { subscriberId, projectId });
   * ```
   */
  topicSubscribe(id: string, params: t.ContactsTopicSubscribeParams, options?: CallOptions): Promise<t.Choice> {
    return this._call("POST", at`/topics/${id}/subscribe`, params, options);
  }

  /**
   * Unsubscribe a contact from a topic.
   *
   * Stores the contact's explicit choice, which overrides the topic's default. Other topics and the contact's status do not change.
   * @example
   * ```ts
   * await mailmill.contacts.topicUnsubscribe(id, { subscriberId, projectId });
   * ```
   */
  topicUnsubscribe(id: string, params: t.ContactsTopicUnsubscribeParams, options?: CallOptions): Promise<t.Choice> {
    return this._call("POST", at`/topics/${id}/unsubscribe`, params, options);
  }
}

export class Connections extends Resource<Mailmill> {
  /**
   * List connections to other platforms.
   *
   * Returns every connection with its health. Keys are never returned.
   * @example
   * ```ts
   * await mailmill.connections.list();
   * ```
   */
  list(params?: t.ConnectionsListParams, options?: CallOptions): Promise<t.Connections> {
    return this._call("GET", "/connections", params, options);
  }

  /**
   * Remove a connection.
   *
   * Deletes the stored key or tokens, and revokes tokens at Klaviyo and HubSpot. Imports that use the connection fail; imported contacts stay. An API key stays valid until you revoke it on the platform.
   * @example
   * ```ts
   * await mailmill.connections.delete({ connectionId });
   * ```
   */
  delete(params: t.ConnectionsDeleteParams, options?: CallOptions): Promise<t.RemovedConnection> {
    return this._call("DELETE", "/connections", params, options);
  }

  /**
   * Connect an account on another platform.
   *
   * Tests the key with the platform before it is stored. If the account is already connected for the same project, or if connectionId names its connection, the key is replaced, and imports that wait for it continue. The key needs only these scopes: for Klaviyo accounts:read, lists:read, segments:read and profiles:read; for HubSpot crm.lists.read, crm.objects.contacts.read and communication_preferences.statuses.batch.read. For exports, also: for Klaviyo templates:read, templates:write, images:read and images:write; for HubSpot content and files.
   * @example
   * ```ts
   * await mailmill.connections.create(provider, { apiKey: "pk_0123456789" });
   * ```
   */
  create(provider: string, params: t.ConnectionsCreateParams, options?: CallOptions): Promise<t.ConnectionView> {
    return this._call("POST", at`/connections/${provider}`, params, options);
  }

  /**
   * Begin a sign-in on another platform.
   *
   * Returns the page of the platform on which the signed-in user consents. The platform sends the user back to Mailmill, which connects the account. Needs a client ID and secret in the settings; without them, connect the account with an API key.
   * @example
   * ```ts
   * await mailmill.connections.authorize(provider, );
   * ```
   */
  authorize(provider: string, params?: t.ConnectionsAuthorizeParams, options?: CallOptions): Promise<t.SignInPage> {
    return this._call("POST", at`/connections/${provider}/authorize`, params, options);
  }

  /**
   * Complete a sign-in on another platform.
   *
   * Connects the account that the user signed in to, or reconnects it, and continues imports that wait for it. Only the session that began the sign-in can complete it, within ten minutes. The dashboard calls this operation when the user returns.
   * @example
   * ```ts
   * await mailmill.connections.complete(provider, { code: "8f3d6c1e", state: "test.5d41402abc4b2a76" });
   * ```
   */
  complete(provider: string, params: t.ConnectionsCompleteParams, options?: CallOptions): Promise<t.ConnectionView> {
    return this._call("POST", at`/connections/${provider}/complete`, params, options);
  }

  /**
   * List the import sources of a platform.
   *
   * Returns lists, segments, tags and audiences of the connected account, with their sizes if the platform states them.
   * @example
   * ```ts
   * await mailmill.connections.sources(provider, { projectId });
   * ```
   */
  sources(provider: string, params: t.ConnectionsSourcesParams, options?: CallOptions): Promise<t.ImportSources> {
    return this._call("GET", at`/contacts/imports/providers/${provider}/sources`, params, options);
  }

  /**
   * Import contacts from a platform.
   *
   * Returns once the import is stored; GET /v1/contacts/imports/{id} returns the progress. The import reads each source page by page, continues after a restart, and waits while the platform limits requests or the connection must be reconnected. An existing status changes only if that does not override the contact's own choice. Emits subscriber.unsubscribed for each contact that becomes unsubscribed, and subscriber.bulk_imported once, when all contacts have been processed.
   * @example
   * ```ts
   * await mailmill.connections.import({ provider: "platform_a", projectId, sources: [{"id":"Y6nRLr","type":"list","name":"Newsletter"}] });
   * ```
   */
  import(params: t.ConnectionsImportParams, options?: CallOptions): Promise<t.ProviderImportStarted> {
    return this._call("POST", "/contacts/imports/provider", params, options);
  }

  /**
   * Import contacts from a platform, and wait until the job has ended.
   *
   * @throws JobFailedError if the job fails.
   * @example
   * ```ts
   * const status = await mailmill.connections.importAndWait(params, {
   *   onProgress: (status) => console.log(status.status),
   * });
   * ```
   */
  importAndWait(params: t.ConnectionsImportParams, options?: WaitOptions<t.ImportProgress>): Promise<t.ImportProgress> {
    return this._wait(
      (options) => this.import(params, options),
      (started, options) => this._client.contacts.importStatus(started.id, undefined, options),
      ["completed"],
      ["failed"],
      options,
    );
  }
}

export class Storefront extends Resource<Mailmill> {
  /**
   * Connect a store to a project.
   *
   * With keys, tests them with the store, stores them encrypted, and starts to import; this also needs the permission project:write. Keys replace those of a store that is already connected to the project. Without keys, connects a store with the keys with which it is connected to another project of the account. The access token of Shopify needs the scope read_products; with read_orders, orders become customer events, and with read_customers, customers are imported.
   * @example
   * ```ts
   * await mailmill.storefront.connect({ projectId, storefrontStoreUrl: "https://acme.myshopify.com" });
   * ```
   */
  connect(params: t.StorefrontConnectParams, options?: CallOptions): Promise<t.StorefrontConnection> {
    return this._call("POST", "/storefront/connect", params, options);
  }

  /**
   * List connected stores.
   *
   * Returns every connected store with the state of its imports. Keys are never returned.
   * @example
   * ```ts
   * await mailmill.storefront.list();
   * ```
   */
  list(params?: t.StorefrontListParams, options?: CallOptions): Promise<t.StoreList> {
    return this._call("GET", "/storefront/stores", params, options);
  }

  /**
   * Import a store again.
   *
   * Starts an import of all products and customers, or a further one after the current one. Imports also start once a day.
   * @example
   * ```ts
   * await mailmill.storefront.sync(serverId);
   * ```
   */
  sync(serverId: string, options?: CallOptions): Promise<t.ConnectedStore> {
    return this._call("POST", at`/storefront/stores/${serverId}/sync`, undefined, options);
  }

  /**
   * Disconnect a store.
   *
   * Removes the webhooks at the store and deletes the stored keys. Imported products and contacts stay. The keys themselves stay valid until you revoke them on the platform.
   * @example
   * ```ts
   * await mailmill.storefront.disconnect(serverId);
   * ```
   */
  disconnect(serverId: string, options?: CallOptions): Promise<t.DisconnectedStore> {
    return this._call("DELETE", at`/storefront/stores/${serverId}`, undefined, options);
  }
}

export class Events extends Resource<Mailmill> {
  /**
   * Record a customer event.
   *
   * The service stores the event with its contact for 90 days. An event with externalOrderId and a number in properties.value is a conversion: it counts once per order, for the email that the contact last clicked in the five days before occurredAt. The amount of an event whose name contains refund, cancelled or canceled is a refund and is subtracted in full: from the email that its order is credited to or, if the service knows no payment with its externalOrderId, from the email of the contact's last credited order. A refund may arrive before its order. Two equal refunds with the same occurredAt count once, unless each has its own dedupeKey. Events never change whether a contact may be mailed. If an event adds a contact or changes a profile, no webhook event is emitted.
   * @example
   * ```ts
   * await mailmill.events.record({ projectId, name: "purchase.completed", identifiers: {"email":"ada@example.com","externalOrderId":"order-1001"} });
   * ```
   */
  record(params: t.EventsRecordParams, options?: CallOptions): Promise<t.RecordedEvent> {
    return this._call("POST", "/events", params, options, { keyed: true });
  }

  /**
   * Record up to 500 customer events.
   *
   * Events are processed in order, each like a single event. Set a dedupeKey on each event, so that repeating a batch stores no event twice. Idempotency-Key is not supported.
   * @example
   * ```ts
   * await mailmill.events.batch({ projectId, events: [{"name":"purchase.completed","identifiers":{"email":"ada@example.com","externalOrderId":"order-1001"},"properties":{"value":49.9,"currency":"EUR"},"dedupeKey":"order-1001:paid"},{"name":"cart.abandoned","identifiers":{"email":"grace@example"}}] });
   * ```
   */
  batch(params: t.EventsBatchParams, options?: CallOptions): Promise<t.RecordedEvents> {
    return this._call("POST", "/events/batch", params, options);
  }

  /**
   * List the events of a contact.
   *
   * Events reported with POST /v1/events in the last 90 days, newest first.
   * @example
   * ```ts
   * for await (const item of mailmill.events.list(id, { projectId })) console.log(item);
   * ```
   */
  list(id: string, params: t.EventsListParams, options?: CallOptions): List<t.CustomerEventPart, t.CustomerEvent> {
    return this._list(at`/contacts/${id}/events`, { items: "events", by: "cursor" }, params, options);
  }

  /**
   * List event names.
   *
   * Returns the event names that segments can filter by. A name stays in the list even after its events have been deleted.
   * @example
   * ```ts
   * await mailmill.events.names(projectId);
   * ```
   */
  names(projectId: string, params?: t.EventsNamesParams, options?: CallOptions): Promise<t.EventNames> {
    return this._call("GET", at`/projects/${projectId}/event-names`, params, options);
  }
}

export class Tags extends Resource<Mailmill> {
  /**
   * List tags.
   *
   * Lists the newest tag first, unless sortBy or sortOrder is set.
   * @example
   * ```ts
   * for await (const item of mailmill.tags.list({ projectId })) console.log(item);
   * ```
   */
  list(params: t.TagsListParams, options?: CallOptions): List<t.TagsListPage, t.TagView> {
    return this._list("/tags", { items: "tags", by: "offset" }, params, options);
  }

  /**
   * Create a tag.
   *
   * Writing a contact with an unknown tag also creates the tag. Returns 409 if a tag in the project has this name; data.id is then the ID of that tag.
   * @example
   * ```ts
   * await mailmill.tags.create({ projectId, name: "newsletter" });
   * ```
   */
  create(params: t.TagsCreateParams, options?: CallOptions): Promise<t.TagView> {
    return this._call("POST", "/tags", params, options, { keyed: true });
  }

  /**
   * Get a tag.
   * @example
   * ```ts
   * await mailmill.tags.get(id, { projectId });
   * ```
   */
  get(id: string, params: t.TagsGetParams, options?: CallOptions): Promise<t.TagView> {
    return this._call("GET", at`/tags/${id}`, params, options);
  }

  /**
   * Change a tag.
   *
   * Contacts keep a renamed tag, and searches find them by its new name.
   * @example
   * ```ts
   * await mailmill.tags.update(id, { projectId });
   * ```
   */
  update(id: string, params: t.TagsUpdateParams, options?: CallOptions): Promise<t.TagView> {
    return this._call("PATCH", at`/tags/${id}`, params, options);
  }

  /**
   * Delete a tag.
   *
   * The tag is removed from its contacts, which are kept. Segments that filter by the tag no longer find contacts with it.
   * @example
   * ```ts
   * await mailmill.tags.delete(id, { projectId });
   * ```
   */
  delete(id: string, params: t.TagsDeleteParams, options?: CallOptions): Promise<t.DeletedTag> {
    return this._call("DELETE", at`/tags/${id}`, params, options);
  }
}

export class Topics extends Resource<Mailmill> {
  /**
   * List topics.
   *
   * Topics are ordered by displayOrder, then by name.
   * @example
   * ```ts
   * for await (const item of mailmill.topics.list({ projectId })) console.log(item);
   * ```
   */
  list(params: t.TopicsListParams, options?: CallOptions): List<t.TopicsListPage, t.TopicView> {
    return this._list("/topics", { items: "topics", by: "offset" }, params, options);
  }

  /**
   * Create a topic.
   *
   * Returns 409 if a topic in the project has this name; data.id is then the ID of that topic.
   * @example
   * ```ts
   * await mailmill.topics.create({ projectId, name: "Product updates" });
   * ```
   */
  create(params: t.TopicsCreateParams, options?: CallOptions): Promise<t.TopicView> {
    return this._call("POST", "/topics", params, options, { keyed: true });
  }

  /**
   * Get a topic.
   * @example
   * ```ts
   * await mailmill.topics.get(id, { projectId });
   * ```
   */
  get(id: string, params: t.TopicsGetParams, options?: CallOptions): Promise<t.TopicView> {
    return this._call("GET", at`/topics/${id}`, params, options);
  }

  /**
   * Change a topic.
   *
   * A new default applies to contacts who have not made a choice. Explicit choices do not change.
   * @example
   * ```ts
   * await mailmill.topics.update(id, { projectId });
   * ```
   */
  update(id: string, params: t.TopicsUpdateParams, options?: CallOptions): Promise<t.TopicView> {
    return this._call("PATCH", at`/topics/${id}`, params, options);
  }

  /**
   * Delete a topic.
   *
   * Also deletes the contacts' choices for this topic. To keep the choices, set isActive to false instead.
   * @example
   * ```ts
   * await mailmill.topics.delete(id, { projectId });
   * ```
   */
  delete(id: string, params: t.TopicsDeleteParams, options?: CallOptions): Promise<t.DeletedTopic> {
    return this._call("DELETE", at`/topics/${id}`, params, options);
  }
}

export class Segments extends Resource<Mailmill> {
  /**
   * List segments.
   *
   * Lists the newest segment first. Unless count is false, each segment has the number of contacts that match its filter now.
   * @example
   * ```ts
   * for await (const item of mailmill.segments.list({ projectId })) console.log(item);
   * ```
   */
  list(params: t.SegmentsListParams, options?: CallOptions): List<t.SegmentsListPage, t.SegmentView> {
    return this._list("/segments", { items: "segments", by: "offset" }, params, options);
  }

  /**
   * Create a segment.
   *
   * Returns 409 if a segment in the project has this name; data.id is then the ID of that segment. Text comparisons ignore case. is_not and not_contains also match contacts without the field. A list in a custom field matches if one of its items matches. Number conditions accept numbers and numeric text; date conditions accept UTC days and times.
   * @example
   * ```ts
   * await mailmill.segments.create({ projectId, name: "Paying readers" });
   * ```
   */
  create(params: t.SegmentsCreateParams, options?: CallOptions): Promise<t.SegmentView> {
    return this._call("POST", "/segments", params, options);
  }

  /**
   * Preview a filter without saving it.
   *
   * Returns the number of matching contacts and some of them. The filter has the same form as in POST /v1/segments. The filter is not stored.
   * @example
   * ```ts
   * await mailmill.segments.preview({ projectId });
   * ```
   */
  preview(params: t.SegmentsPreviewParams, options?: CallOptions): Promise<t.SegmentPreview> {
    return this._call("POST", "/segments/preview", params, options);
  }

  /**
   * Get a segment.
   *
   * Includes the number of contacts that match the filter now, unless count is false. GET /v1/contacts with segmentId lists these contacts.
   * @example
   * ```ts
   * await mailmill.segments.get(id, { projectId });
   * ```
   */
  get(id: string, params: t.SegmentsGetParams, options?: CallOptions): Promise<t.SegmentView> {
    return this._call("GET", at`/segments/${id}`, params, options);
  }

  /**
   * Change a segment.
   * @example
   * ```ts
   * await mailmill.segments.update(id, { projectId });
   * ```
   */
  update(id: string, params: t.SegmentsUpdateParams, options?: CallOptions): Promise<t.SegmentView> {
    return this._call("PATCH", at`/segments/${id}`, params, options);
  }

  /**
   * Delete a segment.
   *
   * The contacts that match the segment's filter are not changed.
   * @example
   * ```ts
   * await mailmill.segments.delete(id, { projectId });
   * ```
   */
  delete(id: string, params: t.SegmentsDeleteParams, options?: CallOptions): Promise<t.DeletedSegment> {
    return this._call("DELETE", at`/segments/${id}`, params, options);
  }

  /**
   * Get the project of a segment.
   *
   * All other segment operations also require the project ID, so store both IDs instead of calling this operation each time.
   * @example
   * ```ts
   * await mailmill.segments.project(id);
   * ```
   */
  project(id: string, options?: CallOptions): Promise<t.OwningProject> {
    return this._call("GET", at`/segments/${id}/project`, undefined, options);
  }
}

export class Suppressions extends Resource<Mailmill> {
  /**
   * List suppressed addresses.
   *
   * Lists the addresses suppressed in the whole account, newest first.
   * @example
   * ```ts
   * for await (const item of mailmill.suppressions.list()) console.log(item);
   * ```
   */
  list(params?: t.SuppressionsListParams, options?: CallOptions): List<t.SuppressionsListPage, t.SuppressionView> {
    return this._list("/suppressions", { items: "suppressions", by: "offset" }, params, options);
  }

  /**
   * Suppress an address.
   *
   * Takes effect immediately for the whole account, including queued messages. The entry of an address already on the list does not change, unless the new reason is more serious. The response shows the resulting entry.
   * @example
   * ```ts
   * await mailmill.suppressions.create({ email: "ada@example.com" });
   * ```
   */
  create(params: t.SuppressionsCreateParams, options?: CallOptions): Promise<t.SuppressionView> {
    return this._call("POST", "/suppressions", params, options, { keyed: true });
  }

  /**
   * Remove an address from the suppression list.
   *
   * Remove an address if the recipient wants email again or a mail server rejected the address by mistake. The contact's status does not change.
   * @example
   * ```ts
   * await mailmill.suppressions.delete(email);
   * ```
   */
  delete(email: string, options?: CallOptions): Promise<t.DeletedSuppression> {
    return this._call("DELETE", at`/suppressions/${email}`, undefined, options);
  }
}

export class Tracking extends Resource<Mailmill> {
  /**
   * Get the metrics of an email.
   *
   * Covers all campaigns, batches and direct sends of the email, including test sends. Opens and clicks by security scanners, by clients that prefetch and by Apple's privacy proxy are not counted.
   * @example
   * ```ts
   * await mailmill.tracking.metrics(emailId);
   * ```
   */
  metrics(emailId: string, params?: t.TrackingMetricsParams, options?: CallOptions): Promise<t.EmailMetrics> {
    return this._call("GET", at`/emails/${emailId}/metrics`, params, options);
  }

  /**
   * List the recipients of an email.
   *
   * Covers all campaigns, batches and direct sends of the email, newest first. A page can have fewer rows than requested, or none, even though nextCursor is set.
   * @example
   * ```ts
   * for await (const item of mailmill.tracking.logs(emailId)) console.log(item);
   * ```
   */
  logs(emailId: string, params?: t.TrackingLogsParams, options?: CallOptions): List<t.EmailLogPart, t.CampaignLog> {
    return this._list(at`/emails/${emailId}/logs`, { items: "emails", by: "cursor" }, params, options);
  }

  /**
   * Export all data about a contact.
   *
   * For data access requests: profile, tags, topics, sent messages with the contact's opens and clicks, events, and payments.
   * @example
   * ```ts
   * await mailmill.tracking.personalData(id, { projectId });
   * ```
   */
  personalData(id: string, params: t.TrackingPersonalDataParams, options?: CallOptions): Promise<t.Everything> {
    return this._call("GET", at`/contacts/${id}/personal-data`, params, options);
  }

  /**
   * Get the timeline of a contact.
   *
   * Newest first: messages, opens and clicks by people, bounces, complaints, unsubscribes and customer events. For a contact with very many messages, bounces and complaints are listed only for the newest 500.
   * @example
   * ```ts
   * for await (const item of mailmill.tracking.timeline(id, { projectId })) console.log(item);
   * ```
   */
  timeline(id: string, params: t.TrackingTimelineParams, options?: CallOptions): List<t.TimelinePart, t.TimelineEntry> {
    return this._list(at`/contacts/${id}/timeline`, { items: "entries", by: "cursor" }, params, options);
  }
}

export class SendingInbox extends Resource<Mailmill> {
  /**
   * List the built-in inbox.
   *
   * Lists the messages sent with test keys and, in development mode, with live keys, newest first. Recipients at simulator.mailmill.example behave as their names say: delivered, deferred (at the first attempt), mailbox-full (deferred at every attempt), hard-bounce, soft-bounce, complaint, open, click, unsubscribe.
   * @example
   * ```ts
   * for await (const item of mailmill.sending.inbox.list()) console.log(item);
   * ```
   */
  list(params?: t.SendingInboxListParams, options?: CallOptions): List<t.SendingInboxListPage, t.MessageView> {
    return this._list("/inbox", { items: "messages", by: "offset" }, params, options);
  }

  /**
   * Get a message from the built-in inbox.
   * @example
   * ```ts
   * await mailmill.sending.inbox.get(id);
   * ```
   */
  get(id: string, options?: CallOptions): Promise<t.WholeMessage> {
    return this._call("GET", at`/inbox/${id}`, undefined, options);
  }

  /**
   * Delete a message from the built-in inbox.
   *
   * Deletes only the message; the record of its send is kept.
   * @example
   * ```ts
   * await mailmill.sending.inbox.delete(id);
   * ```
   */
  delete(id: string, options?: CallOptions): Promise<t.DeletedMessage> {
    return this._call("DELETE", at`/inbox/${id}`, undefined, options);
  }

  /**
   * Show a message from the built-in inbox as a page.
   *
   * The page runs no scripts, submits no forms, and loads images from other servers only if images is true. Its links open in a new window.
   * @example
   * ```ts
   * await mailmill.sending.inbox.html(id);
   * ```
   */
  html(id: string, params?: t.SendingInboxHtmlParams, options?: CallOptions): Promise<string> {
    return this._call("GET", at`/inbox/${id}/html`, params, options, { answer: "text" });
  }

  /**
   * Download a message from the built-in inbox.
   *
   * Returns the exact bytes that would have been sent, including signatures.
   * @example
   * ```ts
   * await mailmill.sending.inbox.raw(id);
   * ```
   */
  raw(id: string, options?: CallOptions): Promise<Uint8Array> {
    return this._call("GET", at`/inbox/${id}/raw`, undefined, options, { answer: "bytes" });
  }

  /**
   * Take a screenshot of a message in the built-in inbox.
   *
   * Returns a PNG image of the whole message, 600 pixels wide, at twice the resolution.
   * @example
   * ```ts
   * await mailmill.sending.inbox.screenshot(id);
   * ```
   */
  screenshot(id: string, options?: CallOptions): Promise<Uint8Array> {
    return this._call("GET", at`/inbox/${id}/screenshot`, undefined, options, { answer: "bytes" });
  }
}

export class Sending extends Resource<Mailmill> {
  /** @see {@link SendingInbox} */
  readonly inbox = new SendingInbox(this._client);

  /**
   * Send an email.
   *
   * Returns once the send is on disk; delivery follows. With an Idempotency-Key, a repeated request gets the first response and sends nothing. Set the content with emailId, conversationId or template. If a merge field has neither a value nor a default, a send to one address fails, and a send to an audience skips the contact.
   * @example
   * ```ts
   * await mailmill.sending.send({ recipientType: "email", from: "hello@example.com" });
   * ```
   */
  send(params: t.SendingSendParams, options?: CallOptions): Promise<t.SendAccepted> {
    return this._call("POST", "/sending", params, options, { keyed: true });
  }

  /**
   * Get a direct send.
   *
   * Returns the status of each recipient. For a batch, use GET /v1/sending/batches/{batchId}. A direct send is kept for the number of days in the setting mail.direct_days, then deleted with its content and links.
   * @example
   * ```ts
   * await mailmill.sending.get(sendId);
   * ```
   */
  get(sendId: string, options?: CallOptions): Promise<t.SendView> {
    return this._call("GET", at`/sending/${sendId}`, undefined, options);
  }

  /**
   * Get a batch.
   *
   * Returns the progress of a send to an audience: the number of recipients in each state.
   * @example
   * ```ts
   * await mailmill.sending.batch(batchId);
   * ```
   */
  batch(batchId: string, options?: CallOptions): Promise<t.BatchView> {
    return this._call("GET", at`/sending/batches/${batchId}`, undefined, options);
  }

  /**
   * Cancel a batch.
   *
   * Skips the remaining recipients. The outcome of messages in flight is still recorded.
   * @example
   * ```ts
   * await mailmill.sending.batchCancel(batchId);
   * ```
   */
  batchCancel(batchId: string, options?: CallOptions): Promise<t.BatchView> {
    return this._call("POST", at`/sending/batches/${batchId}/cancel`, undefined, options);
  }

  /**
   * Send again to recipients whose delivery is unknown.
   *
   * Sends again to recipients with the status unknown: after their message was sent, the service or a connection failed before the mail server replied. Most of these recipients already have the message and get a second copy with the same Message-ID. Also accepts the ID of a direct send.
   * @example
   * ```ts
   * await mailmill.sending.batchResendUnknown(batchId);
   * ```
   */
  batchResendUnknown(batchId: string, options?: CallOptions): Promise<t.ResentBatch> {
    return this._call("POST", at`/sending/batches/${batchId}/resend-unknown`, undefined, options, { keyed: true });
  }

  /**
   * Send a test of an email.
   *
   * Emits the event email.test.sent. The message is the same as in a send to one address, but its opens and clicks are not tracked. The recipient does not have to be subscribed.
   * @example
   * ```ts
   * await mailmill.sending.test({ to: "ada@example.com" });
   * ```
   */
  test(params: t.SendingTestParams, options?: CallOptions): Promise<t.Tested> {
    return this._call("POST", "/emails/test/send", params, options, { keyed: true });
  }

  /**
   * Get sending totals.
   *
   * Returns the totals for the key's environment. With a test key, the totals cover the messages in the built-in inbox.
   * @example
   * ```ts
   * await mailmill.sending.metrics();
   * ```
   */
  metrics(params?: t.SendingMetricsParams, options?: CallOptions): Promise<t.SendingMetrics> {
    return this._call("GET", "/metrics/sending", params, options);
  }

  /**
   * Get daily sending statistics.
   *
   * Returns the statistics of all campaigns, batches, direct sends and test sends of all brands in the key's environment. An open is counted on the day of the open, not on the day the message was sent. Opens and clicks by bots are excluded.
   * @example
   * ```ts
   * await mailmill.sending.timeline();
   * ```
   */
  timeline(params?: t.SendingTimelineParams, options?: CallOptions): Promise<t.SendingTimeline> {
    return this._call("GET", "/metrics/timeline", params, options);
  }

  /**
   * Get the account's limits.
   *
   * Returns the limits in effect, and how much of each quota is used in the key's environment.
   * @example
   * ```ts
   * await mailmill.sending.plan();
   * ```
   */
  plan(options?: CallOptions): Promise<t.AccountPlan> {
    return this._call("GET", "/plan", undefined, options);
  }
}

export class Models extends Resource<Mailmill> {
  /**
   * Get the usage and cost of language models.
   *
   * Returns the usage of the brands in the key's environment. The limits apply to both environments together.
   * @example
   * ```ts
   * await mailmill.models.metrics();
   * ```
   */
  metrics(params?: t.ModelsMetricsParams, options?: CallOptions): Promise<t.ModelMetrics> {
    return this._call("GET", "/metrics/models", params, options);
  }
}

export class Campaigns extends Resource<Mailmill> {
  /**
   * Create a campaign from a generated email.
   *
   * The campaign is a draft until you send or schedule it. Until then, it uses the current version of its email. Recipients get the email in their own language if the generation includes that language.
   * @example
   * ```ts
   * await mailmill.campaigns.create({ projectId, name: "Winter teas", from: "news@acme.example", fromName: "Acme", recipientType: "segment" });
   * ```
   */
  create(params: t.CampaignsCreateParams, options?: CallOptions): Promise<t.CampaignView> {
    return this._call("POST", "/campaigns", params, options, { keyed: true });
  }

  /**
   * List campaigns.
   *
   * Newest first.
   * @example
   * ```ts
   * for await (const item of mailmill.campaigns.list({ projectId })) console.log(item);
   * ```
   */
  list(params: t.CampaignsListParams, options?: CallOptions): List<t.CampaignsListPage, t.CampaignView> {
    return this._list("/campaigns", { items: "campaigns", by: "offset" }, params, options);
  }

  /**
   * List campaigns of all projects with their statistics.
   *
   * Newest first. If few campaigns match, a page can have fewer campaigns than requested, or none, even though more pages follow.
   * @example
   * ```ts
   * for await (const item of mailmill.campaigns.overview()) console.log(item);
   * ```
   */
  overview(params?: t.CampaignsOverviewParams, options?: CallOptions): List<t.CampaignsOverview, t.CampaignLine> {
    return this._list("/campaigns/overview", { items: "campaigns", by: "before" }, params, options);
  }

  /**
   * Get a campaign.
   * @example
   * ```ts
   * await mailmill.campaigns.get(id);
   * ```
   */
  get(id: string, params?: t.CampaignsGetParams, options?: CallOptions): Promise<t.CampaignView> {
    return this._call("GET", at`/campaigns/${id}`, params, options);
  }

  /**
   * Change a campaign that has not started.
   *
   * A scheduled campaign stays scheduled and must still be ready to start after the change.
   * @example
   * ```ts
   * await mailmill.campaigns.update(id, );
   * ```
   */
  update(id: string, params?: t.CampaignsUpdateParams, options?: CallOptions): Promise<t.CampaignView> {
    return this._call("PATCH", at`/campaigns/${id}`, params, options);
  }

  /**
   * Delete a draft.
   *
   * Only campaigns with the status draft or pending_review can be deleted. Archive other campaigns instead.
   * @example
   * ```ts
   * await mailmill.campaigns.delete(id);
   * ```
   */
  delete(id: string, params?: t.CampaignsDeleteParams, options?: CallOptions): Promise<t.DeletedCampaign> {
    return this._call("DELETE", at`/campaigns/${id}`, params, options);
  }

  /**
   * Duplicate a campaign as a draft.
   *
   * The copy has all settings of the original except its schedule. The original can have any status.
   * @example
   * ```ts
   * await mailmill.campaigns.duplicate(id, );
   * ```
   */
  duplicate(id: string, params?: t.CampaignsDuplicateParams, options?: CallOptions): Promise<t.CampaignView> {
    return this._call("POST", at`/campaigns/${id}/duplicate`, params, options, { keyed: true });
  }

  /**
   * Send a test of a campaign's email.
   *
   * Sends the email as it would go out now, in the language of the contact with that address. Works in every campaign status. Test emails are not counted in the campaign's statistics. Emits email.test.sent for each address.
   * @example
   * ```ts
   * await mailmill.campaigns.test(id, { emails: ["ada@acme.example"] });
   * ```
   */
  test(id: string, params: t.CampaignsTestParams, options?: CallOptions): Promise<t.TestSent> {
    return this._call("POST", at`/campaigns/${id}/test`, params, options, { keyed: true });
  }

  /**
   * Preview the outcome of sending a campaign.
   *
   * Checks every recipient as sending does, but sends no email. Changes to the data before you send can change the result.
   * @example
   * ```ts
   * await mailmill.campaigns.dryRun(id);
   * ```
   */
  dryRun(id: string, params?: t.CampaignsDryRunParams, options?: CallOptions): Promise<t.CampaignDryRun> {
    return this._call("GET", at`/campaigns/${id}/dry-run`, params, options);
  }

  /**
   * Send a campaign now.
   *
   * Returns as soon as the campaign is stored for sending; check the progress with GET /v1/campaigns/{id}. The content can no longer change. A campaign can be sent only once: a second request fails with 409, or returns the same response if it has the Idempotency-Key of the first request. A scheduled campaign is sent now instead.
   * @example
   * ```ts
   * await mailmill.campaigns.send(id, );
   * ```
   */
  send(id: string, params?: t.CampaignsSendParams, options?: CallOptions): Promise<t.CampaignView> {
    return this._call("POST", at`/campaigns/${id}/send`, params, options, { keyed: true });
  }

  /**
   * Schedule a campaign.
   *
   * At the start time, the campaign sends the current version of its email to the audience at that time. A local time that clocks skip moves forward by the gap; of a local time that occurs twice, the first occurrence is used; scheduleNotice reports both cases. Scheduling a scheduled campaign again changes its start time. If the campaign cannot start when it is due, the status becomes pending_review, and error explains why.
   * @example
   * ```ts
   * await mailmill.campaigns.schedule(id, { scheduledAt: "2026-01-31T09:30" });
   * ```
   */
  schedule(id: string, params: t.CampaignsScheduleParams, options?: CallOptions): Promise<t.CampaignView> {
    return this._call("POST", at`/campaigns/${id}/schedule`, params, options, { keyed: true });
  }

  /**
   * Reschedule a campaign.
   *
   * Like scheduling a campaign, but fails if the campaign is a draft.
   * @example
   * ```ts
   * await mailmill.campaigns.reschedule(id, { scheduledAt: "2026-01-31T09:30" });
   * ```
   */
  reschedule(id: string, params: t.CampaignsRescheduleParams, options?: CallOptions): Promise<t.CampaignView> {
    return this._call("POST", at`/campaigns/${id}/reschedule`, params, options, { keyed: true });
  }

  /**
   * Unschedule a campaign.
   *
   * The campaign becomes a draft again.
   * @example
   * ```ts
   * await mailmill.campaigns.unschedule(id, );
   * ```
   */
  unschedule(id: string, params?: t.CampaignsUnscheduleParams, options?: CallOptions): Promise<t.CampaignView> {
    return this._call("POST", at`/campaigns/${id}/unschedule`, params, options);
  }

  /**
   * Pause a campaign that is being sent.
   *
   * Nothing more is sent until you resume the campaign. The outcome of messages in flight is still recorded, and opens and clicks are still counted.
   * @example
   * ```ts
   * await mailmill.campaigns.pause(id, );
   * ```
   */
  pause(id: string, params?: t.CampaignsPauseParams, options?: CallOptions): Promise<t.CampaignView> {
    return this._call("POST", at`/campaigns/${id}/pause`, params, options);
  }

  /**
   * Resume a paused campaign.
   *
   * Sending continues with the remaining recipients.
   * @example
   * ```ts
   * await mailmill.campaigns.resume(id, );
   * ```
   */
  resume(id: string, params?: t.CampaignsResumeParams, options?: CallOptions): Promise<t.CampaignView> {
    return this._call("POST", at`/campaigns/${id}/resume`, params, options);
  }

  /**
   * Cancel a campaign.
   *
   * A scheduled campaign does not start. If the campaign is being sent, the remaining recipients are skipped with the reason cancelled; the outcome of messages in flight is still recorded.
   * @example
   * ```ts
   * await mailmill.campaigns.cancel(id, );
   * ```
   */
  cancel(id: string, params?: t.CampaignsCancelParams, options?: CallOptions): Promise<t.CampaignView> {
    return this._call("POST", at`/campaigns/${id}/cancel`, params, options);
  }

  /**
   * Archive a campaign.
   *
   * Lists with archived=false no longer include the campaign. An archived campaign cannot be sent or scheduled, and does not start at its scheduled time.
   * @example
   * ```ts
   * await mailmill.campaigns.archive(id, );
   * ```
   */
  archive(id: string, params?: t.CampaignsArchiveParams, options?: CallOptions): Promise<t.CampaignView> {
    return this._call("POST", at`/campaigns/${id}/archive`, params, options);
  }

  /**
   * Unarchive a campaign.
   *
   * Returns 409 if the campaign is not archived.
   * @example
   * ```ts
   * await mailmill.campaigns.unarchive(id, );
   * ```
   */
  unarchive(id: string, params?: t.CampaignsUnarchiveParams, options?: CallOptions): Promise<t.CampaignView> {
    return this._call("POST", at`/campaigns/${id}/unarchive`, params, options);
  }

  /**
   * Get a campaign's statistics.
   *
   * Rates are percentages of the delivered messages. Every recipient is in exactly one of totalSent, queued, deferred, failed, unknown and skipped.
   * @example
   * ```ts
   * await mailmill.campaigns.stats(id);
   * ```
   */
  stats(id: string, params?: t.CampaignsStatsParams, options?: CallOptions): Promise<t.CampaignStats> {
    return this._call("GET", at`/campaigns/${id}/stats`, params, options);
  }

  /**
   * Get a campaign's results per day and per link.
   *
   * The results exclude opens and clicks by bots. Each order appears on the day it was placed, even if it was reported later.
   * @example
   * ```ts
   * await mailmill.campaigns.report(id);
   * ```
   */
  report(id: string, params?: t.CampaignsReportParams, options?: CallOptions): Promise<t.CampaignReport> {
    return this._call("GET", at`/campaigns/${id}/report`, params, options);
  }

  /**
   * List a campaign's recipients.
   *
   * Returns a row for each recipient; rows of skipped recipients include the reason. If few rows match the filter, a page can have fewer rows than requested, or none, even though nextCursor is set.
   * @example
   * ```ts
   * for await (const item of mailmill.campaigns.logs(id)) console.log(item);
   * ```
   */
  logs(id: string, params?: t.CampaignsLogsParams, options?: CallOptions): List<t.LogPart, t.CampaignLog> {
    return this._list(at`/campaigns/${id}/logs`, { items: "emails", by: "cursor" }, params, options);
  }

  /**
   * Send again to recipients whose delivery is unknown.
   *
   * If the process or a connection fails during a handoff, it is uncertain whether a recipient has the message. Recipients who already have the message get a second copy with the same Message-ID.
   * @example
   * ```ts
   * await mailmill.campaigns.resendUnknown(id, );
   * ```
   */
  resendUnknown(id: string, params?: t.CampaignsResendUnknownParams, options?: CallOptions): Promise<t.CampaignResent> {
    return this._call("POST", at`/campaigns/${id}/resend-unknown`, params, options, { keyed: true });
  }
}

export class MailFeedback extends Resource<Mailmill> {
  /**
   * List mail services.
   *
   * Lists the oldest mail service first. A URL is shown only by the response that creates it.
   * @example
   * ```ts
   * for await (const item of mailmill.mailFeedback.list()) console.log(item);
   * ```
   */
  list(params?: t.MailFeedbackListParams, options?: CallOptions): List<t.MailFeedbackListPage, t.MailFeedbackView> {
    return this._list("/mail-services", { items: "mailServices", by: "offset" }, params, options);
  }

  /**
   * Add a mail service.
   *
   * The response shows the URL of the webhook only once. Enter the URL at the service that relays your mail. The service then reports bounces, complaints, deliveries and unsubscribes, with the same effects as bounce messages. An event takes effect only if it contains the reference of a message of this environment.
   * @example
   * ```ts
   * await mailmill.mailFeedback.create({ service: "mailgun" });
   * ```
   */
  create(params: t.MailFeedbackCreateParams, options?: CallOptions): Promise<t.MailFeedbackWithUrl> {
    return this._call("POST", "/mail-services", params, options, { keyed: true });
  }

  /**
   * Get a mail service.
   *
   * The response shows whether events arrive, and why the last request was rejected.
   * @example
   * ```ts
   * await mailmill.mailFeedback.get(mailServiceId);
   * ```
   */
  get(mailServiceId: string, options?: CallOptions): Promise<t.MailFeedbackView> {
    return this._call("GET", at`/mail-services/${mailServiceId}`, undefined, options);
  }

  /**
   * Change a mail service.
   *
   * Set the secret with this operation if the mail service shows it only after it knows the URL.
   * @example
   * ```ts
   * await mailmill.mailFeedback.update(mailServiceId, );
   * ```
   */
  update(mailServiceId: string, params?: t.MailFeedbackUpdateParams, options?: CallOptions): Promise<t.MailFeedbackWithUrl> {
    return this._call("PATCH", at`/mail-services/${mailServiceId}`, params, options);
  }

  /**
   * Delete a mail service.
   *
   * The URL of its webhook returns 404 from now on. Suppressions and statistics from its events are kept.
   * @example
   * ```ts
   * await mailmill.mailFeedback.delete(mailServiceId);
   * ```
   */
  delete(mailServiceId: string, options?: CallOptions): Promise<t.DeletedMailService> {
    return this._call("DELETE", at`/mail-services/${mailServiceId}`, undefined, options);
  }

  /**
   * Test a mail service.
   *
   * Sends a sample of a hard bounce, in the format of the service and signed like its requests, through the checks for real requests. The sample refers to no message, so it has no effect. The call itself succeeds even if the test fails.
   * @example
   * ```ts
   * await mailmill.mailFeedback.test(mailServiceId);
   * ```
   */
  test(mailServiceId: string, options?: CallOptions): Promise<t.MailServiceTested> {
    return this._call("POST", at`/mail-services/${mailServiceId}/test`, undefined, options);
  }
}

export class Hooks extends Resource<Mailmill> {
  /**
   * List incoming webhooks.
   *
   * Lists the oldest incoming webhook first. The URLs are shown only when they are created.
   * @example
   * ```ts
   * for await (const item of mailmill.hooks.list()) console.log(item);
   * ```
   */
  list(params?: t.HooksListParams, options?: CallOptions): List<t.HooksListPage, t.HookView> {
    return this._list("/incoming-webhooks", { items: "hooks", by: "offset" }, params, options);
  }

  /**
   * Create an incoming webhook.
   *
   * The response shows the URL only once. Other systems send contacts or customer events to it, as JSON or as a form, without a key: the URL itself is the secret.
   * @example
   * ```ts
   * await mailmill.hooks.create({ projectId, name: "Newsletter form" });
   * ```
   */
  create(params: t.HooksCreateParams, options?: CallOptions): Promise<t.HookWithUrl> {
    return this._call("POST", "/incoming-webhooks", params, options, { keyed: true });
  }

  /**
   * Get an incoming webhook.
   *
   * The response does not include the URL, which is shown only when it is created.
   * @example
   * ```ts
   * await mailmill.hooks.get(hook);
   * ```
   */
  get(hook: string, options?: CallOptions): Promise<t.HookView> {
    return this._call("GET", at`/incoming-webhooks/${hook}`, undefined, options);
  }

  /**
   * Change an incoming webhook.
   *
   * The changes apply to requests that arrive from now on.
   * @example
   * ```ts
   * await mailmill.hooks.update(hook, );
   * ```
   */
  update(hook: string, params?: t.HooksUpdateParams, options?: CallOptions): Promise<t.HookWithUrl> {
    return this._call("PATCH", at`/incoming-webhooks/${hook}`, params, options);
  }

  /**
   * Delete an incoming webhook.
   *
   * Its URL returns 404 from now on. The contacts and events that it received are kept.
   * @example
   * ```ts
   * await mailmill.hooks.delete(hook);
   * ```
   */
  delete(hook: string, options?: CallOptions): Promise<t.DeletedHook> {
    return this._call("DELETE", at`/incoming-webhooks/${hook}`, undefined, options);
  }

  /**
   * List the requests of an incoming webhook.
   *
   * Lists the last 50 requests, newest first. They contain no values of the bodies, which may be personal data.
   * @example
   * ```ts
   * await mailmill.hooks.deliveries(hook);
   * ```
   */
  deliveries(hook: string, options?: CallOptions): Promise<t.HookDeliveries> {
    return this._call("GET", at`/incoming-webhooks/${hook}/deliveries`, undefined, options);
  }

  /**
   * Test an incoming webhook.
   *
   * Returns the values that the mapping takes from a body, and whether they can be stored. Nothing is stored. The call itself succeeds even if the test fails. Signatures are not checked.
   * @example
   * ```ts
   * await mailmill.hooks.test(hook, { body: {"data":{"email":"ada@example.com","first_name":"Ada"}} });
   * ```
   */
  test(hook: string, params: t.HooksTestParams, options?: CallOptions): Promise<t.HookTested> {
    return this._call("POST", at`/incoming-webhooks/${hook}/test`, params, options);
  }
}

export class ScheduledImports extends Resource<Mailmill> {
  /**
   * List scheduled imports.
   *
   * Lists the oldest scheduled import first.
   * @example
   * ```ts
   * for await (const item of mailmill.scheduledImports.list()) console.log(item);
   * ```
   */
  list(params?: t.ScheduledImportsListParams, options?: CallOptions): List<t.ScheduledImportsListPage, t.ScheduledImportView> {
    return this._list("/scheduled-imports", { items: "imports", by: "offset" }, params, options);
  }

  /**
   * Create a scheduled import.
   *
   * The first run starts immediately. Each run fetches the file, unless the server has no newer version, and imports its contacts like POST /v1/contacts/imports. A contact who unsubscribed or bounced is not resubscribed. After several failed runs in a row, the scheduled import is paused.
   * @example
   * ```ts
   * await mailmill.scheduledImports.create({ projectId, name: "Shop customers", url: "https://shop.acme.example/export/contacts.csv" });
   * ```
   */
  create(params: t.ScheduledImportsCreateParams, options?: CallOptions): Promise<t.ScheduledImportView> {
    return this._call("POST", "/scheduled-imports", params, options, { keyed: true });
  }

  /**
   * Get a scheduled import.
   *
   * Returns the schedule and the result of the last run.
   * @example
   * ```ts
   * await mailmill.scheduledImports.get(id);
   * ```
   */
  get(id: string, options?: CallOptions): Promise<t.ScheduledImportView> {
    return this._call("GET", at`/scheduled-imports/${id}`, undefined, options);
  }

  /**
   * Change a scheduled import.
   *
   * A change of the file or its mapping starts a run. An import that is running continues with the settings with which it started.
   * @example
   * ```ts
   * await mailmill.scheduledImports.update(id, );
   * ```
   */
  update(id: string, params?: t.ScheduledImportsUpdateParams, options?: CallOptions): Promise<t.ScheduledImportView> {
    return this._call("PATCH", at`/scheduled-imports/${id}`, params, options);
  }

  /**
   * Delete a scheduled import.
   *
   * The contacts are kept. An import that is running continues.
   * @example
   * ```ts
   * await mailmill.scheduledImports.delete(id);
   * ```
   */
  delete(id: string, options?: CallOptions): Promise<t.DeletedScheduledImport> {
    return this._call("DELETE", at`/scheduled-imports/${id}`, undefined, options);
  }

  /**
   * Run a scheduled import now.
   *
   * Ends a pause. Returns before the file is fetched. Has no effect while a run lasts.
   * @example
   * ```ts
   * await mailmill.scheduledImports.run(id);
   * ```
   */
  run(id: string, options?: CallOptions): Promise<t.ScheduledImportView> {
    return this._call("POST", at`/scheduled-imports/${id}/run`, undefined, options);
  }
}

export class Webhooks extends Resource<Mailmill> {
  /**
   * List webhooks.
   *
   * Lists the oldest webhook first.
   * @example
   * ```ts
   * for await (const item of mailmill.webhooks.list()) console.log(item);
   * ```
   */
  list(params?: t.WebhooksListParams, options?: CallOptions): List<t.WebhooksListPage, t.WebhookView> {
    return this._list("/webhooks", { items: "webhooks", by: "offset" }, params, options);
  }

  /**
   * Create a webhook.
   *
   * The response shows the signing secret only once. Deliveries are POST requests with the event as JSON; X-Service-Signature is the hexadecimal HMAC-SHA256 of the raw body, keyed with the secret exactly as shown here, including its whsec_ prefix. A 2xx response within ten seconds is a success; any other result except 410 is retried, up to three attempts in total.
   * @example
   * ```ts
   * await mailmill.webhooks.create({ url: "https://acme.example/hooks", events: ["subscriber.added","subscriber.unsubscribed"] });
   * ```
   */
  create(params: t.WebhooksCreateParams, options?: CallOptions): Promise<t.WebhookWithSecret> {
    return this._call("POST", "/webhooks", params, options, { keyed: true });
  }

  /**
   * List event types.
   *
   * All event types that a webhook can subscribe to.
   * @example
   * ```ts
   * await mailmill.webhooks.events();
   * ```
   */
  events(options?: CallOptions): Promise<t.EventTypes> {
    return this._call("GET", "/webhooks/events", undefined, options);
  }

  /**
   * Get delivery statistics.
   *
   * A delivery is counted as successful or failed when it ends. Tests are included.
   * @example
   * ```ts
   * await mailmill.webhooks.stats();
   * ```
   */
  stats(options?: CallOptions): Promise<t.StatsView> {
    return this._call("GET", "/webhooks/stats", undefined, options);
  }

  /**
   * Get a webhook.
   *
   * The response does not include the secret, which is shown only when it is created.
   * @example
   * ```ts
   * await mailmill.webhooks.get(webhookId);
   * ```
   */
  get(webhookId: string, options?: CallOptions): Promise<t.WebhookView> {
    return this._call("GET", at`/webhooks/${webhookId}`, undefined, options);
  }

  /**
   * Change a webhook.
   *
   * Changing the URL or enabling the webhook ends the pause of its endpoint.
   * @example
   * ```ts
   * await mailmill.webhooks.update(webhookId, );
   * ```
   */
  update(webhookId: string, params?: t.WebhooksUpdateParams, options?: CallOptions): Promise<t.UpdatedWebhook> {
    return this._call("PATCH", at`/webhooks/${webhookId}`, params, options);
  }

  /**
   * Delete a webhook.
   *
   * Also deletes the webhook's deliveries; pending ones are not delivered. An attempt in flight may still arrive.
   * @example
   * ```ts
   * await mailmill.webhooks.delete(webhookId);
   * ```
   */
  delete(webhookId: string, options?: CallOptions): Promise<t.DeletedWebhook> {
    return this._call("DELETE", at`/webhooks/${webhookId}`, undefined, options);
  }

  /**
   * Send a test.
   *
   * Makes one attempt, signed like any other attempt, with the header X-Service-Test and the type webhook.test. This also works for disabled or paused webhooks. The response contains the endpoint's response. The call itself succeeds even if the test fails.
   * @example
   * ```ts
   * await mailmill.webhooks.test(webhookId);
   * ```
   */
  test(webhookId: string, options?: CallOptions): Promise<t.WebhookTested> {
    return this._call("POST", at`/webhooks/${webhookId}/test`, undefined, options);
  }

  /**
   * Rotate a webhook's secret.
   *
   * Only this response shows the new secret. Until previousSecretExpiresAt, both secrets sign: X-Service-Signature and X-Service-Signature-Alternate contain one digest each, and webhook-signature contains both. For receivers that have one secret and check only X-Service-Signature, that header contains the digest by the secret that last succeeded at the endpoint, at first the old one; the second attempt uses the new secret, the third the old one. Tests use the new secret first. If you rotate again during the grace period, the oldest secret stops signing.
   * @example
   * ```ts
   * await mailmill.webhooks.rotateSecret(webhookId, );
   * ```
   */
  rotateSecret(webhookId: string, params?: t.WebhooksRotateSecretParams, options?: CallOptions): Promise<t.WebhookWithSecret> {
    return this._call("POST", at`/webhooks/${webhookId}/rotate-secret`, params, options, { keyed: true });
  }

  /**
   * List deliveries.
   *
   * Lists the newest delivery first, with the record of every attempt. Deliveries are kept for the number of days in the setting webhooks.deliveries_kept_days. A status filter searches the newest 20,000 deliveries.
   * @example
   * ```ts
   * for await (const item of mailmill.webhooks.deliveries(webhookId)) console.log(item);
   * ```
   */
  deliveries(webhookId: string, params?: t.WebhooksDeliveriesParams, options?: CallOptions): List<t.WebhooksDeliveriesPage, t.DeliveryView> {
    return this._list(at`/webhooks/${webhookId}/deliveries`, { items: "deliveries", by: "offset" }, params, options);
  }

  /**
   * Get a delivery.
   *
   * Includes every attempt: its time, and the endpoint's response or the error.
   * @example
   * ```ts
   * await mailmill.webhooks.delivery(webhookId, deliveryId);
   * ```
   */
  delivery(webhookId: string, deliveryId: string, options?: CallOptions): Promise<t.DeliveryView> {
    return this._call("GET", at`/webhooks/${webhookId}/deliveries/${deliveryId}`, undefined, options);
  }

  /**
   * Redeliver an event.
   *
   * Creates a new delivery of the same event, with up to three new attempts and the same event ID and body. Events are kept for seven days. Fails while a delivery of the event is pending.
   * @example
   * ```ts
   * await mailmill.webhooks.retry(webhookId, deliveryId);
   * ```
   */
  retry(webhookId: string, deliveryId: string, options?: CallOptions): Promise<t.DeliveryView> {
    return this._call("POST", at`/webhooks/${webhookId}/deliveries/${deliveryId}/retry`, undefined, options, { keyed: true });
  }

  /**
   * Redeliver a time range.
   *
   * Creates a new delivery for every event in the range that the webhook subscribes to and that has not arrived; with all, also for events that have arrived. Events that occurred while the webhook was disabled are included. Opt-in events are stored only while a webhook subscribes to them. The work runs in the background; the webhook's redelivery shows its progress. A webhook can have only one redelivery at a time.
   * @example
   * ```ts
   * await mailmill.webhooks.redeliver(webhookId, { from: "2026-01-01T00:00:00.000Z" });
   * ```
   */
  redeliver(webhookId: string, params: t.WebhooksRedeliverParams, options?: CallOptions): Promise<t.RedeliveryView> {
    return this._call("POST", at`/webhooks/${webhookId}/redeliver`, params, options, { keyed: true });
  }
}

/**
 * A client of the API.
 *
 * @example
 * ```ts
 * import { Mailmill } from "mailmill";
 *
 * const mailmill = new Mailmill(); // reads MAILMILL_API_KEY and MAILMILL_BASE_URL
 * for await (const project of mailmill.projects.list()) console.log(project.name);
 * ```
 */
export class Mailmill extends Client {
  /** @see {@link Projects} */
  readonly projects = new Projects(this);
  /** @see {@link GoLive} */
  readonly goLive = new GoLive(this);
  /** @see {@link Domains} */
  readonly domains = new Domains(this);
  /** @see {@link Emails} */
  readonly emails = new Emails(this);
  /** @see {@link SavedBlocks} */
  readonly savedBlocks = new SavedBlocks(this);
  /** @see {@link Validation} */
  readonly validation = new Validation(this);
  /** @see {@link Previews} */
  readonly previews = new Previews(this);
  /** @see {@link Exports} */
  readonly exports = new Exports(this);
  /** @see {@link Contacts} */
  readonly contacts = new Contacts(this);
  /** @see {@link Connections} */
  readonly connections = new Connections(this);
  /** @see {@link Storefront} */
  readonly storefront = new Storefront(this);
  /** @see {@link Events} */
  readonly events = new Events(this);
  /** @see {@link Tags} */
  readonly tags = new Tags(this);
  /** @see {@link Topics} */
  readonly topics = new Topics(this);
  /** @see {@link Segments} */
  readonly segments = new Segments(this);
  /** @see {@link Suppressions} */
  readonly suppressions = new Suppressions(this);
  /** @see {@link Tracking} */
  readonly tracking = new Tracking(this);
  /** @see {@link Sending} */
  readonly sending = new Sending(this);
  /** @see {@link Models} */
  readonly models = new Models(this);
  /** @see {@link Campaigns} */
  readonly campaigns = new Campaigns(this);
  /** @see {@link MailFeedback} */
  readonly mailFeedback = new MailFeedback(this);
  /** @see {@link Hooks} */
  readonly hooks = new Hooks(this);
  /** @see {@link ScheduledImports} */
  readonly scheduledImports = new ScheduledImports(this);
  /** @see {@link Webhooks} */
  readonly webhooks = new Webhooks(this);
}
