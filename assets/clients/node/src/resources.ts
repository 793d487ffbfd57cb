// Written by assets/clients/generator from the OpenAPI document. Change the operation's declaration instead.

import { Client, Resource, path, type CallOptions, type WaitOptions } from "./core.js";
import type { List } from "./list.js";
import type * as t from "./types.js";

const at = path;

export class ProjectsImports extends Resource<Mailmill> {
  /**
   * Import a project from web pages.
   *
   * Returns immediately; the import runs in the background.
   * @example
   * ```ts
   * await mailmill.projects.imports.create({ urls: ["https://www.acme.example"] });
   * ```
   */
  create(params: t.ProjectsImportsCreateParams, options?: CallOptions): Promise<t.ImportAccepted> {
    return this._post("/projects/import", params, options, { keyed: true });
  }

  /**
   * Get the state of an import.
   * @example
   * ```ts
   * await mailmill.projects.imports.get(projectId);
   * ```
   */
  get(projectId: string, options?: CallOptions): Promise<t.ImportView> {
    return this._get(at`/projects/import/${projectId}/status`, undefined, options);
  }

  /**
   * Import a project's sites again.
   *
   * Use this operation after a failed import or after a site has changed.
   * @example
   * ```ts
   * await mailmill.projects.imports.retry(projectId);
   * ```
   */
  retry(projectId: string, options?: CallOptions): Promise<t.ImportRetryResult> {
    return this._post(at`/projects/import/${projectId}/retry`, undefined, options, { keyed: true });
  }

  /**
   * List the changes found by a repeated import.
   *
   * Values with state `pending` are not used until they are accepted.
   * @example
   * ```ts
   * await mailmill.projects.imports.changes(projectId);
   * ```
   */
  changes(projectId: string, options?: CallOptions): Promise<t.ImportChangesView> {
    return this._get(at`/projects/import/${projectId}/changes`, undefined, options);
  }

  /**
   * Accept or reject the changes found by a repeated import.
   *
   * Returns the remaining changes.
   * @example
   * ```ts
   * await mailmill.projects.imports.decide(projectId);
   * ```
   */
  decide(projectId: string, params?: t.ProjectsImportsDecideParams, options?: CallOptions): Promise<t.ImportChangesView> {
    return this._post(at`/projects/import/${projectId}/changes`, params, options);
  }
}

export class ProjectsKnowledge extends Resource<Mailmill> {
  /**
   * List a project's knowledge base.
   *
   * Lists entries, newest first.
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
   * Emails that are generated afterward can use the entry.
   * @example
   * ```ts
   * await mailmill.projects.knowledge.create(projectId, { title: "How we roast", content: "We roast twice a week, in small batches." });
   * ```
   */
  create(projectId: string, params: t.ProjectsKnowledgeCreateParams, options?: CallOptions): Promise<t.KnowledgeView> {
    return this._post(at`/projects/${projectId}/knowledge-base`, params, options, { keyed: true });
  }

  /**
   * Get an entry in a project's knowledge base.
   * @example
   * ```ts
   * await mailmill.projects.knowledge.get(projectId, entryId);
   * ```
   */
  get(projectId: string, entryId: string, options?: CallOptions): Promise<t.KnowledgeView> {
    return this._get(at`/projects/${projectId}/knowledge-base/${entryId}`, undefined, options);
  }

  /**
   * Change an entry in a project's knowledge base.
   * @example
   * ```ts
   * await mailmill.projects.knowledge.update(projectId, entryId);
   * ```
   */
  update(projectId: string, entryId: string, params?: t.ProjectsKnowledgeUpdateParams, options?: CallOptions): Promise<t.KnowledgeView> {
    return this._put(at`/projects/${projectId}/knowledge-base/${entryId}`, params, options);
  }

  /**
   * Remove an entry from a project's knowledge base.
   *
   * An entry from the project's pages does not return when the sites are imported again.
   * @example
   * ```ts
   * await mailmill.projects.knowledge.delete(projectId, entryId);
   * ```
   */
  delete(projectId: string, entryId: string, options?: CallOptions): Promise<t.RemovalResult> {
    return this._delete(at`/projects/${projectId}/knowledge-base/${entryId}`, undefined, options);
  }
}

export class ProjectsImages extends Resource<Mailmill> {
  /**
   * List a project's images.
   *
   * Images that users added come first, newest first.
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
   * If the project already has an image with this URL, a new description and new tags replace the current ones.
   * @example
   * ```ts
   * await mailmill.projects.images.create(projectId, { url: "https://www.acme.example/images/roastery.jpg" });
   * ```
   */
  create(projectId: string, params: t.ProjectsImagesCreateParams, options?: CallOptions): Promise<t.ProjectImageView> {
    return this._post(at`/projects/${projectId}/images`, params, options, { keyed: true });
  }

  /**
   * Change an image's description and tags.
   * @example
   * ```ts
   * await mailmill.projects.images.update(projectId, { imageUrl: "https://www.acme.example/images/roastery.jpg" });
   * ```
   */
  update(projectId: string, params: t.ProjectsImagesUpdateParams, options?: CallOptions): Promise<t.ProjectImageView> {
    return this._put(at`/projects/${projectId}/images`, params, options);
  }

  /**
   * Remove an image from a project.
   *
   * An uploaded file is kept for another year for the emails that contain it.
   * @example
   * ```ts
   * await mailmill.projects.images.delete(projectId, { imageUrl: "https://www.acme.example/images/roastery.jpg" });
   * ```
   */
  delete(projectId: string, params: t.ProjectsImagesDeleteParams, options?: CallOptions): Promise<t.RemovalResult> {
    return this._delete(at`/projects/${projectId}/images`, params, options);
  }

  /**
   * Upload an image to a project.
   *
   * Use this operation for images that are not on the web yet.
   * @example
   * ```ts
   * await mailmill.projects.images.upload(projectId, { file: "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7" });
   * ```
   */
  upload(projectId: string, params: t.ProjectsImagesUploadParams, options?: CallOptions): Promise<t.ProjectImageView> {
    return this._post(at`/projects/${projectId}/images/upload`, params, options, { keyed: true, base64: "file" });
  }

  /**
   * Get a small copy of a project's image.
   *
   * Returns a PNG or JPEG image of at most 480 pixels per side, or an SVG image unchanged.
   * @example
   * ```ts
   * await mailmill.projects.images.preview(projectId, { imageUrl: "https://www.acme.example/images/roastery.jpg" });
   * ```
   */
  preview(projectId: string, params: t.ProjectsImagesPreviewParams, options?: CallOptions): Promise<Uint8Array> {
    return this._get(at`/projects/${projectId}/images/preview`, params, options, { answer: "bytes" });
  }
}

export class ProjectsProducts extends Resource<Mailmill> {
  /**
   * List a project's products.
   *
   * Lists the products by position, including hidden products, which new emails leave out.
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
   * The product is added after the project's other products.
   * @example
   * ```ts
   * await mailmill.projects.products.create(projectId, { name: "Ember bowl" });
   * ```
   */
  create(projectId: string, params: t.ProjectsProductsCreateParams, options?: CallOptions): Promise<t.ProductView> {
    return this._post(at`/projects/${projectId}/products`, params, options, { keyed: true });
  }

  /**
   * Change a product.
   *
   * Values that you set take precedence over imported values, even after another import.
   * @example
   * ```ts
   * await mailmill.projects.products.update(projectId, productId);
   * ```
   */
  update(projectId: string, productId: string, params?: t.ProjectsProductsUpdateParams, options?: CallOptions): Promise<t.ProductView> {
    return this._patch(at`/projects/${projectId}/products/${productId}`, params, options);
  }

  /**
   * Remove a product from a project.
   *
   * An imported product is hidden instead of deleted, so that the next import does not add it again.
   * @example
   * ```ts
   * await mailmill.projects.products.delete(projectId, productId);
   * ```
   */
  delete(projectId: string, productId: string, options?: CallOptions): Promise<t.RemovalResult> {
    return this._delete(at`/projects/${projectId}/products/${productId}`, undefined, options);
  }

  /**
   * Merge products.
   *
   * The other products are deleted.
   * @example
   * ```ts
   * await mailmill.projects.products.merge(projectId, productId, { productIds });
   * ```
   */
  merge(projectId: string, productId: string, params: t.ProjectsProductsMergeParams, options?: CallOptions): Promise<t.ProductView> {
    return this._post(at`/projects/${projectId}/products/${productId}/merge`, params, options, { keyed: true });
  }
}

export class Projects extends Resource<Mailmill> {
  /** @see {@link ProjectsImports} */
  readonly imports = new ProjectsImports(this._client);

  /** @see {@link ProjectsKnowledge} */
  readonly knowledge = new ProjectsKnowledge(this._client);

  /** @see {@link ProjectsImages} */
  readonly images = new ProjectsImages(this._client);

  /** @see {@link ProjectsProducts} */
  readonly products = new ProjectsProducts(this._client);

  /**
   * List projects.
   *
   * Lists projects, newest first.
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
   * Includes `brand`, the values found on the project's sites or set by users, and `overrides`, the values set by users.
   * @example
   * ```ts
   * await mailmill.projects.get(projectId);
   * ```
   */
  get(projectId: string, options?: CallOptions): Promise<t.ProjectView> {
    return this._get(at`/projects/${projectId}`, undefined, options);
  }

  /**
   * Correct a project's brand.
   *
   * Values that you set take precedence over values from the project's sites, even after another import.
   * @example
   * ```ts
   * await mailmill.projects.update(projectId);
   * ```
   */
  update(projectId: string, params?: t.ProjectsUpdateParams, options?: CallOptions): Promise<t.ProjectView> {
    return this._patch(at`/projects/${projectId}`, params, options);
  }

  /**
   * Set a project's logos.
   *
   * Logos that you set take precedence over logos found on the project's sites, even after the sites are imported again.
   * @example
   * ```ts
   * await mailmill.projects.updateLogos(projectId);
   * ```
   */
  updateLogos(projectId: string, params?: t.ProjectsUpdateLogosParams, options?: CallOptions): Promise<t.LogosUpdateResult> {
    return this._put(at`/projects/${projectId}/logos`, params, options);
  }

  /**
   * Set a project's brand guidelines.
   *
   * Language models follow the guidelines when they write emails for the project after the change.
   * @example
   * ```ts
   * await mailmill.projects.updateGuidelines(projectId);
   * ```
   */
  updateGuidelines(projectId: string, params?: t.ProjectsUpdateGuidelinesParams, options?: CallOptions): Promise<t.KeptGuidelines> {
    return this._put(at`/projects/${projectId}/brand-guidelines`, params, options);
  }

  /**
   * List favorite emails.
   *
   * To use a favorite as a pattern, generate emails with the favorite's `conversationId` as `referenceId`.
   * @example
   * ```ts
   * await mailmill.projects.references(projectId);
   * ```
   */
  references(projectId: string, options?: CallOptions): Promise<t.ReferencesView> {
    return this._get(at`/projects/${projectId}/references`, undefined, options);
  }

  /**
   * Show a sample email in a brand's theme.
   *
   * Colors, fonts and the corner radius in the query replace the brand's own values without saving them.
   * @example
   * ```ts
   * await mailmill.projects.previewTheme(projectId);
   * ```
   */
  previewTheme(projectId: string, params?: t.ProjectsPreviewThemeParams, options?: CallOptions): Promise<string> {
    return this._get(at`/projects/${projectId}/theme-preview`, params, options, { answer: "text" });
  }

  /**
   * Import a project from web pages, and wait until the job has ended.
   *
   * @throws JobFailedError if the job fails.
   * @example
   * ```ts
   * const status = await mailmill.projects.importAndWait({ urls: ["https://www.acme.example"] }, {
   *   onProgress: (status) => console.log(status.status),
   * });
   * ```
   */
  importAndWait(params: t.ProjectsImportsCreateParams, options?: WaitOptions<t.ImportView>): Promise<t.ImportView> {
    return this._wait(
      (options) => this._client.projects.imports.create(params, options),
      (started, options) => this._client.projects.imports.get(started.projectId, options),
      { done: ["active"], failed: ["error"], fields: [] },
      options,
    );
  }
}

export class Domains extends Resource<Mailmill> {
  /**
   * List sending domains.
   *
   * Sorted by name.
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
   * Creates the domain's DKIM keys and returns the DNS records to add.
   * @example
   * ```ts
   * await mailmill.domains.create({ domain: "acme.example" });
   * ```
   */
  create(params: t.DomainsCreateParams, options?: CallOptions): Promise<t.DomainView> {
    return this._post("/domains", params, options, { keyed: true });
  }

  /**
   * Add a sending subdomain for one kind of mail.
   *
   * Keeps the reputation of transactional emails separate from that of campaigns.
   * @example
   * ```ts
   * await mailmill.domains.createStream({ rootDomain: "acme.example", stream: "marketing" });
   * ```
   */
  createStream(params: t.DomainsCreateStreamParams, options?: CallOptions): Promise<t.DomainView> {
    return this._post("/domains/streams", params, options, { keyed: true });
  }

  /**
   * Add both sending subdomains of a root domain.
   *
   * Adds the subdomains send and notify of the root domain, like two calls of POST /v1/domains/streams.
   * @example
   * ```ts
   * await mailmill.domains.setup({ rootDomain: "acme.example" });
   * ```
   */
  setup(params: t.DomainsSetupParams, options?: CallOptions): Promise<t.SendingSubdomains> {
    return this._post("/domains/setup", params, options, { keyed: true });
  }

  /**
   * Get a sending domain.
   *
   * Includes the last result for each DNS record; POST /v1/domains/{domain}/verify checks the records now.
   * @example
   * ```ts
   * await mailmill.domains.get(domain);
   * ```
   */
  get(domain: string, options?: CallOptions): Promise<t.DomainView> {
    return this._get(at`/domains/${domain}`, undefined, options);
  }

  /**
   * Change the tracking of a sending domain.
   *
   * Applies to mail that is prepared after the change.
   * @example
   * ```ts
   * await mailmill.domains.update(domain);
   * ```
   */
  update(domain: string, params?: t.DomainsUpdateParams, options?: CallOptions): Promise<t.DomainView> {
    return this._patch(at`/domains/${domain}`, params, options);
  }

  /**
   * Delete a sending domain.
   *
   * Also deletes the domain's DKIM keys; adding the domain again creates new keys.
   * @example
   * ```ts
   * await mailmill.domains.delete(domain);
   * ```
   */
  delete(domain: string, options?: CallOptions): Promise<t.DeletedDomain> {
    return this._delete(at`/domains/${domain}`, undefined, options);
  }

  /**
   * Check a domain's DNS records now.
   *
   * A domain is verified once DNS has one of its DKIM records.
   * @example
   * ```ts
   * await mailmill.domains.verify(domain);
   * ```
   */
  verify(domain: string, options?: CallOptions): Promise<t.DomainVerification> {
    return this._post(at`/domains/${domain}/verify`, undefined, options);
  }

  /**
   * Rotate a domain's DKIM keys.
   *
   * The current keys continue to sign until the records of the new keys are in DNS.
   * @example
   * ```ts
   * await mailmill.domains.rotate(domain);
   * ```
   */
  rotate(domain: string, options?: CallOptions): Promise<t.DomainView> {
    return this._post(at`/domains/${domain}/rotate`, undefined, options, { keyed: true });
  }
}

export class EmailsEdits extends Resource<Mailmill> {
  /**
   * Edit an email with a prompt.
   *
   * Returns the changed email, and lists what was done and what was not.
   * @example
   * ```ts
   * await mailmill.emails.edits.create(emailId, { prompt: "Make the button green and shorten the intro" });
   * ```
   */
  create(emailId: string, params: t.EmailsEditsCreateParams, options?: CallOptions): Promise<t.EmailEditResult> {
    return this._post(at`/emails/${emailId}/edit`, params, options, { keyed: true });
  }

  /**
   * Get the status of an edit.
   * @example
   * ```ts
   * await mailmill.emails.edits.get(emailId, editId);
   * ```
   */
  get(emailId: string, editId: string, options?: CallOptions): Promise<t.EditView> {
    return this._get(at`/emails/${emailId}/edits/${editId}`, undefined, options);
  }

  /**
   * Save a previewed edit.
   *
   * Saves the email of the latest preview as a new version, without running the edit again.
   * @example
   * ```ts
   * await mailmill.emails.edits.save(emailId, editId);
   * ```
   */
  save(emailId: string, editId: string, params?: t.EmailsEditsSaveParams, options?: CallOptions): Promise<t.EmailView> {
    return this._post(at`/emails/${emailId}/edits/${editId}/save`, params, options, { keyed: true });
  }
}

export class EmailsVersions extends Resource<Mailmill> {
  /**
   * List the versions of an email.
   *
   * Lists the stored versions, newest first.
   * @example
   * ```ts
   * for await (const item of mailmill.emails.versions.list(emailId)) console.log(item);
   * ```
   */
  list(emailId: string, params?: t.EmailsVersionsListParams, options?: CallOptions): List<t.EmailsVersionsListPage, t.VersionView> {
    return this._list(at`/emails/${emailId}/versions`, { items: "versions", by: "offset" }, params, options);
  }

  /**
   * Restore a version of an email.
   *
   * Creates a new version with the content of the selected version.
   * @example
   * ```ts
   * await mailmill.emails.versions.restore(emailId, version);
   * ```
   */
  restore(emailId: string, version: number, params?: t.EmailsVersionsRestoreParams, options?: CallOptions): Promise<t.EmailView> {
    return this._post(at`/emails/${emailId}/versions/${version}/restore`, params, options, { keyed: true });
  }
}

export class EmailsChecks extends Resource<Mailmill> {
  /**
   * Get the checks of an email.
   * @example
   * ```ts
   * await mailmill.emails.checks.get(emailId);
   * ```
   */
  get(emailId: string, params?: t.EmailsChecksGetParams, options?: CallOptions): Promise<t.EmailChecks> {
    return this._get(at`/emails/${emailId}/checks`, params, options);
  }

  /**
   * Check an email now.
   *
   * Checks the current version, requests the URLs of its links, and stores the result.
   * @example
   * ```ts
   * await mailmill.emails.checks.run(emailId);
   * ```
   */
  run(emailId: string, params?: t.EmailsChecksRunParams, options?: CallOptions): Promise<t.EmailChecks> {
    return this._post(at`/emails/${emailId}/checks`, params, options, { keyed: true });
  }

  /**
   * Ignore a finding of an email.
   *
   * An ignored finding is no longer a warning, in this or later versions of the email or in its campaigns.
   * @example
   * ```ts
   * await mailmill.emails.checks.ignore(emailId, findingId, { ignored: true });
   * ```
   */
  ignore(emailId: string, findingId: string, params: t.EmailsChecksIgnoreParams, options?: CallOptions): Promise<t.EmailChecks> {
    return this._put(at`/emails/${emailId}/checks/${findingId}/ignored`, params, options);
  }

  /**
   * Fix a finding of an email.
   *
   * Applies the automatic fix of a `fixable` finding, and saves the result as a new version.
   * @example
   * ```ts
   * await mailmill.emails.checks.fix(emailId, findingId);
   * ```
   */
  fix(emailId: string, findingId: string, params?: t.EmailsChecksFixParams, options?: CallOptions): Promise<t.EmailView> {
    return this._post(at`/emails/${emailId}/checks/${findingId}/fix`, params, options, { keyed: true });
  }
}

export class EmailsDesigns extends Resource<Mailmill> {
  /**
   * List starter designs.
   *
   * A design is an email without facts about a brand.
   * @example
   * ```ts
   * await mailmill.emails.designs.list();
   * ```
   */
  list(options?: CallOptions): Promise<t.DesignList> {
    return this._get("/emails/designs", undefined, options);
  }

  /**
   * Show a starter design as a page.
   *
   * Renders the design in the theme of the project's brand, in the same way as `POST /v1/emails`.
   * @example
   * ```ts
   * await mailmill.emails.designs.html(design, { projectId });
   * ```
   */
  html(design: "blank" | "welcome" | "welcome-offer" | "sale" | "flash-sale" | "launch" | "preorder" | "digest" | "note" | "event" | "webinar" | "reminder" | "order" | "delivery" | "apology" | "service" | "survey" | "review" | "win-back" | "cart" | "referral" | "season" | "gift-guide" | "milestone" | "price-change", params: t.EmailsDesignsHtmlParams, options?: CallOptions): Promise<string> {
    return this._get(at`/emails/designs/${design}/html`, params, options, { answer: "text" });
  }
}

export class Emails extends Resource<Mailmill> {
  /** @see {@link EmailsEdits} */
  readonly edits = new EmailsEdits(this._client);

  /** @see {@link EmailsVersions} */
  readonly versions = new EmailsVersions(this._client);

  /** @see {@link EmailsChecks} */
  readonly checks = new EmailsChecks(this._client);

  /** @see {@link EmailsDesigns} */
  readonly designs = new EmailsDesigns(this._client);

  /**
   * Read the brief from a prompt.
   *
   * Returns the facts, instructions and limits for an email based on the prompt.
   * @example
   * ```ts
   * await mailmill.emails.brief({ projectId, prompt: "20% off everything until 30 November with code LOFT20. Keep it short." });
   * ```
   */
  brief(params: t.EmailsBriefParams, options?: CallOptions): Promise<t.Brief> {
    return this._post("/projects/emails/brief", params, options);
  }

  /**
   * Add text to the brief of an email.
   *
   * Returns the brief.
   * @example
   * ```ts
   * await mailmill.emails.addToBrief(emailId, { text: "Only £15 until Sunday." });
   * ```
   */
  addToBrief(emailId: string, params: t.EmailsAddToBriefParams, options?: CallOptions): Promise<t.Brief> {
    return this._post(at`/emails/${emailId}/brief`, params, options);
  }

  /**
   * Generate emails.
   *
   * Returns immediately and generates the emails in the background.
   * @example
   * ```ts
   * await mailmill.emails.generate({ projectId });
   * ```
   */
  generate(params: t.EmailsGenerateParams, options?: CallOptions): Promise<t.AcceptedGeneration> {
    return this._post("/projects/emails/generate", params, options, { keyed: true });
  }

  /**
   * Import emails as HTML.
   * @example
   * ```ts
   * await mailmill.emails.importHtml({ projectId });
   * ```
   */
  importHtml(params: t.EmailsImportHtmlParams, options?: CallOptions): Promise<t.AcceptedGeneration> {
    return this._post("/projects/emails/import-html", params, options, { keyed: true });
  }

  /**
   * Get the status of a generation.
   *
   * Poll every two seconds until `status` is `completed` or `failed`.
   * @example
   * ```ts
   * await mailmill.emails.status(conversationId);
   * ```
   */
  status(conversationId: string, params?: t.EmailsStatusParams, options?: CallOptions): Promise<t.GenerationStatus> {
    return this._get(at`/projects/emails/${conversationId}/status`, params, options);
  }

  /**
   * List email conversations.
   *
   * Lists conversations, newest first.
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
    return this._get(at`/emails/${emailId}`, params, options);
  }

  /**
   * Create an email from a design or a document.
   *
   * The email is ready immediately.
   * @example
   * ```ts
   * await mailmill.emails.create({ projectId });
   * ```
   */
  create(params: t.EmailsCreateParams, options?: CallOptions): Promise<t.EmailDetails> {
    return this._post("/emails", params, options, { keyed: true });
  }

  /**
   * Edit the document of an email.
   *
   * Saves the changed document as a new version, and renders the HTML, MJML and text.
   * @example
   * ```ts
   * await mailmill.emails.updateDocument(emailId, { operations: [{"op":"set","path":"subject","value":"Welcome to Acme"},{"op":"set","path":"blocks.intro.text","value":"Hello, **we are glad** that you are here."},{"op":"insert","after":"intro","value":{"type":"divider"}},{"op":"move","id":"products","before":"intro"}] });
   * ```
   */
  updateDocument(emailId: string, params: t.EmailsUpdateDocumentParams, options?: CallOptions): Promise<t.EmailDetails> {
    return this._patch(at`/emails/${emailId}/document`, params, options, { keyed: true });
  }

  /**
   * Mark or unmark an email as a favorite.
   * @example
   * ```ts
   * await mailmill.emails.favorite(emailId, { favorite: true });
   * ```
   */
  favorite(emailId: string, params: t.EmailsFavoriteParams, options?: CallOptions): Promise<t.FavoriteResult> {
    return this._put(at`/emails/${emailId}/favorite`, params, options);
  }

  /**
   * Show an email as a page.
   *
   * Merge fields show their defaults or, without a default, their names.
   * @example
   * ```ts
   * await mailmill.emails.html(emailId);
   * ```
   */
  html(emailId: string, params?: t.EmailsHtmlParams, options?: CallOptions): Promise<string> {
    return this._get(at`/emails/${emailId}/html`, params, options, { answer: "text" });
  }

  /**
   * Get the metrics of an email.
   *
   * Covers all campaigns, batches and direct sends of the email, including test sends.
   * @example
   * ```ts
   * await mailmill.emails.metrics(emailId);
   * ```
   */
  metrics(emailId: string, params?: t.EmailsMetricsParams, options?: CallOptions): Promise<t.EmailMetrics> {
    return this._get(at`/emails/${emailId}/metrics`, params, options);
  }

  /**
   * List the recipients of an email.
   *
   * Covers all campaigns, batches and direct sends of the email, newest first.
   * @example
   * ```ts
   * for await (const item of mailmill.emails.logs(emailId)) console.log(item);
   * ```
   */
  logs(emailId: string, params?: t.EmailsLogsParams, options?: CallOptions): List<t.EmailLogPart, t.CampaignLog> {
    return this._list(at`/emails/${emailId}/logs`, { items: "emails", by: "cursor" }, params, options);
  }

  /**
   * Send an email.
   *
   * Returns once the send is on disk; delivery follows.
   * @example
   * ```ts
   * await mailmill.emails.send({ recipientType: "email", from: "hello@example.com" });
   * ```
   */
  send(params: t.EmailsSendParams, options?: CallOptions): Promise<t.SendAccepted> {
    return this._post("/sending", params, options, { keyed: true });
  }

  /**
   * Send a test email.
   *
   * Emits the event email.test.sent.
   * @example
   * ```ts
   * await mailmill.emails.sendTest({ to: "ada@example.com" });
   * ```
   */
  sendTest(params: t.EmailsSendTestParams, options?: CallOptions): Promise<t.TestSendResult> {
    return this._post("/emails/test/send", params, options, { keyed: true });
  }

  /**
   * Generate emails, and wait until the job has ended.
   *
   * @throws JobFailedError if the job fails.
   * @example
   * ```ts
   * const status = await mailmill.emails.generateAndWait({ projectId }, {
   *   onProgress: (status) => console.log(status.status),
   * });
   * ```
   */
  generateAndWait(params: t.EmailsGenerateParams, options?: WaitOptions<t.GenerationStatus>): Promise<t.CompletedGenerationStatus> {
    return this._wait(
      (options) => this._client.emails.generate(params, options),
      (started, options) => this._client.emails.status(started.conversationId, undefined, options),
      { done: ["completed"], failed: ["failed"], fields: ["result"] },
      options,
    );
  }

  /**
   * Import emails as HTML, and wait until the job has ended.
   *
   * @throws JobFailedError if the job fails.
   * @example
   * ```ts
   * const status = await mailmill.emails.importHtmlAndWait({ projectId }, {
   *   onProgress: (status) => console.log(status.status),
   * });
   * ```
   */
  importHtmlAndWait(params: t.EmailsImportHtmlParams, options?: WaitOptions<t.GenerationStatus>): Promise<t.CompletedGenerationStatus> {
    return this._wait(
      (options) => this._client.emails.importHtml(params, options),
      (started, options) => this._client.emails.status(started.conversationId, undefined, options),
      { done: ["completed"], failed: ["failed"], fields: ["result"] },
      options,
    );
  }
}

export class SavedBlocks extends Resource<Mailmill> {
  /**
   * List saved blocks.
   *
   * Lists saved blocks, newest first.
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
    return this._post(at`/projects/${projectId}/blocks`, params, options, { keyed: true });
  }

  /**
   * Rename a saved block.
   * @example
   * ```ts
   * await mailmill.savedBlocks.update(projectId, blockId, { name: "Hours" });
   * ```
   */
  update(projectId: string, blockId: string, params: t.SavedBlocksUpdateParams, options?: CallOptions): Promise<t.SavedBlockView> {
    return this._patch(at`/projects/${projectId}/blocks/${blockId}`, params, options);
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
    return this._delete(at`/projects/${projectId}/blocks/${blockId}`, undefined, options);
  }
}

export class Validation extends Resource<Mailmill> {
  /**
   * Check an email in email clients.
   *
   * Compares the HTML and CSS of the email with the support tables of caniemail.com.
   * @example
   * ```ts
   * await mailmill.validation.compatibility();
   * ```
   */
  compatibility(params?: t.ValidationCompatibilityParams, options?: CallOptions): Promise<t.CompatibilityReport> {
    return this._post("/emails/validate/compatibility", params, options);
  }

  /**
   * Check the links in an email.
   *
   * Requests the URLs of the email with HEAD and, if that fails, with GET for one byte.
   * @example
   * ```ts
   * await mailmill.validation.links();
   * ```
   */
  links(params?: t.ValidationLinksParams, options?: CallOptions): Promise<t.LinkAnalysis> {
    return this._post("/emails/validate/links", params, options);
  }

  /**
   * Check the spelling of an email.
   * @example
   * ```ts
   * await mailmill.validation.spelling();
   * ```
   */
  spelling(params?: t.ValidationSpellingParams, options?: CallOptions): Promise<t.SpellingAnalysis> {
    return this._post("/emails/validate/spelling", params, options);
  }

  /**
   * Predict the deliverability of an email.
   * @example
   * ```ts
   * await mailmill.validation.deliverability();
   * ```
   */
  deliverability(params?: t.ValidationDeliverabilityParams, options?: CallOptions): Promise<t.DeliverabilityAnalysis> {
    return this._post("/emails/validate/deliverability", params, options);
  }

  /**
   * Run all checks on an email.
   *
   * Runs the checks at the same time, each with its own time limit.
   * @example
   * ```ts
   * await mailmill.validation.all();
   * ```
   */
  all(params?: t.ValidationAllParams, options?: CallOptions): Promise<t.ValidationReport> {
    return this._post("/emails/validate/all", params, options);
  }
}

export class PreviewsDevices extends Resource<Mailmill> {
  /**
   * Get one device of a preview.
   * @example
   * ```ts
   * await mailmill.previews.devices.get(previewId, deviceKey);
   * ```
   */
  get(previewId: string, deviceKey: string, options?: CallOptions): Promise<t.OneDeviceView> {
    return this._get(at`/emails/previews/${previewId}/devices/${deviceKey}`, undefined, options);
  }

  /**
   * List the devices available for previews.
   * @example
   * ```ts
   * await mailmill.previews.devices.list();
   * ```
   */
  list(options?: CallOptions): Promise<t.SupportedDevices> {
    return this._get("/emails/devices/supported", undefined, options);
  }
}

export class Previews extends Resource<Mailmill> {
  /** @see {@link PreviewsDevices} */
  readonly devices = new PreviewsDevices(this._client);

  /**
   * Preview an email on devices.
   *
   * Returns immediately; the devices are drawn in the background, within seconds.
   * @example
   * ```ts
   * await mailmill.previews.create();
   * ```
   */
  create(params?: t.PreviewsCreateParams, options?: CallOptions): Promise<t.PreviewView> {
    return this._post("/emails/previews", params, options, { keyed: true });
  }

  /**
   * Get a preview.
   * @example
   * ```ts
   * await mailmill.previews.get(previewId);
   * ```
   */
  get(previewId: string, options?: CallOptions): Promise<t.PreviewView> {
    return this._get(at`/emails/previews/${previewId}`, undefined, options);
  }

  /**
   * Get the status of a preview.
   * @example
   * ```ts
   * await mailmill.previews.status(previewId);
   * ```
   */
  status(previewId: string, options?: CallOptions): Promise<t.PreviewStatusView> {
    return this._get(at`/emails/previews/${previewId}/status`, undefined, options);
  }

  /**
   * Preview an email on devices, and wait until the job has ended.
   *
   * @throws JobFailedError if the job fails.
   * @example
   * ```ts
   * const status = await mailmill.previews.createAndWait({}, {
   *   onProgress: (status) => console.log(status.status),
   * });
   * ```
   */
  createAndWait(params: t.PreviewsCreateParams, options?: WaitOptions<t.PreviewView>): Promise<t.PreviewView> {
    return this._wait(
      (options) => this._client.previews.create(params, options),
      (started, options) => this._client.previews.get(started.previewId, options),
      { done: ["COMPLETED","PARTIAL_SUCCESS"], failed: ["FAILED"], fields: [] },
      options,
    );
  }
}

export class Exports extends Resource<Mailmill> {
  /**
   * Export emails as HTML.
   *
   * Creates one HTML file for each finished email in the conversation; with emailId, only for that email.
   * @example
   * ```ts
   * await mailmill.exports.html(conversationId);
   * ```
   */
  html(conversationId: string, params?: t.ExportsHtmlParams, options?: CallOptions): Promise<t.EmailExport> {
    return this._get(at`/export/html/${conversationId}`, params, options);
  }

  /**
   * Export emails as MJML.
   *
   * Creates one MJML file for each finished email in the conversation; with emailId, only for that email.
   * @example
   * ```ts
   * await mailmill.exports.mjml(conversationId);
   * ```
   */
  mjml(conversationId: string, params?: t.ExportsMjmlParams, options?: CallOptions): Promise<t.EmailExport> {
    return this._get(at`/export/mjml/${conversationId}`, params, options);
  }

  /**
   * Export emails as PNG.
   *
   * Creates one PNG image for each finished email in the conversation; with emailId, only for that email.
   * @example
   * ```ts
   * await mailmill.exports.png(conversationId);
   * ```
   */
  png(conversationId: string, params?: t.ExportsPngParams, options?: CallOptions): Promise<t.EmailExport> {
    return this._get(at`/export/png/${conversationId}`, params, options);
  }

  /**
   * Export emails as PDF.
   *
   * Creates one PDF file for each finished email in the conversation; with emailId, only for that email.
   * @example
   * ```ts
   * await mailmill.exports.pdf(conversationId);
   * ```
   */
  pdf(conversationId: string, params?: t.ExportsPdfParams, options?: CallOptions): Promise<t.EmailExport> {
    return this._get(at`/export/pdf/${conversationId}`, params, options);
  }

  /**
   * Export emails for Klaviyo.
   * @example
   * ```ts
   * await mailmill.exports.klaviyo(conversationId);
   * ```
   */
  klaviyo(conversationId: string, params?: t.ExportsKlaviyoParams, options?: CallOptions): Promise<t.EmailExport> {
    return this._get(at`/export/platform_a/${conversationId}`, params, options);
  }

  /**
   * Export emails for Mailchimp.
   * @example
   * ```ts
   * await mailmill.exports.mailchimp(conversationId);
   * ```
   */
  mailchimp(conversationId: string, params?: t.ExportsMailchimpParams, options?: CallOptions): Promise<t.EmailExport> {
    return this._get(at`/export/platform_b/${conversationId}`, params, options);
  }

  /**
   * Export emails for HubSpot.
   * @example
   * ```ts
   * await mailmill.exports.hubspot({ conversationId });
   * ```
   */
  hubspot(params: t.ExportsHubspotParams, options?: CallOptions): Promise<t.EmailExport> {
    return this._post("/export/platform_c", params, options, { keyed: true });
  }

  /**
   * Get the status of an export.
   * @example
   * ```ts
   * await mailmill.exports.status(conversationId);
   * ```
   */
  status(conversationId: string, params?: t.ExportsStatusParams, options?: CallOptions): Promise<t.ExportStatusView> {
    return this._get(at`/export/status/${conversationId}`, params, options);
  }

  /**
   * List export formats.
   * @example
   * ```ts
   * await mailmill.exports.formats();
   * ```
   */
  formats(options?: CallOptions): Promise<t.FormatsView> {
    return this._get("/export/formats", undefined, options);
  }
}

export class ContactsBulk extends Resource<Mailmill> {
  /**
   * Add or update many contacts.
   * @example
   * ```ts
   * await mailmill.contacts.bulk.create({ projectId, subscribers: [{"email":"ada@example.com","firstName":"Ada","tags":["newsletter"]},{"email":"grace@example.com","status":"subscribed"}] });
   * ```
   */
  create(params: t.ContactsBulkCreateParams, options?: CallOptions): Promise<t.BulkChangeResult> {
    return this._post("/contacts/bulk", params, options, { keyed: true });
  }

  /**
   * Get the progress of a bulk write.
   *
   * Returns finished jobs until 30 days after they end.
   * @example
   * ```ts
   * await mailmill.contacts.bulk.get(jobId);
   * ```
   */
  get(jobId: string, params?: t.ContactsBulkGetParams, options?: CallOptions): Promise<t.BulkProgress> {
    return this._get(at`/contacts/bulk/${jobId}`, params, options);
  }
}

export class ContactsBulkChanges extends Resource<Mailmill> {
  /**
   * Make the same change to many contacts.
   *
   * Emits subscriber.unsubscribed for each contact that is unsubscribed or deleted; other changes emit no event.
   * @example
   * ```ts
   * await mailmill.contacts.bulkChanges.create({ projectId });
   * ```
   */
  create(params: t.ContactsBulkChangesCreateParams, options?: CallOptions): Promise<t.BulkChangeDone> {
    return this._post("/contacts/bulk-change", params, options, { keyed: true });
  }

  /**
   * Get the progress of a bulk change.
   *
   * Returns finished jobs until 30 days after they end.
   * @example
   * ```ts
   * await mailmill.contacts.bulkChanges.get(jobId);
   * ```
   */
  get(jobId: string, params?: t.ContactsBulkChangesGetParams, options?: CallOptions): Promise<t.BulkChangeProgress> {
    return this._get(at`/contacts/bulk-change/${jobId}`, params, options);
  }
}

export class ContactsImports extends Resource<Mailmill> {
  /**
   * Import contacts from a CSV file.
   *
   * Accepts multipart/form-data.
   * @example
   * ```ts
   * await mailmill.contacts.imports.create(params);
   * ```
   */
  create(params: t.ContactsImportsCreateParams, options?: CallOptions): Promise<t.ImportStarted> {
    return this._post("/contacts/imports", params, options, { form: true });
  }

  /**
   * Get the progress of an import.
   *
   * Returns finished imports until 30 days after they end.
   * @example
   * ```ts
   * await mailmill.contacts.imports.get(id);
   * ```
   */
  get(id: string, params?: t.ContactsImportsGetParams, options?: CallOptions): Promise<t.ImportProgress> {
    return this._get(at`/contacts/imports/${id}`, params, options);
  }

  /**
   * List the row errors of an import.
   *
   * Lists errors in the order of the rows.
   * @example
   * ```ts
   * for await (const item of mailmill.contacts.imports.errors(id)) console.log(item);
   * ```
   */
  errors(id: string, params?: t.ContactsImportsErrorsParams, options?: CallOptions): List<t.ContactsImportsErrorsPage, t.ImportError> {
    return this._list(at`/contacts/imports/${id}/errors`, { items: "errors", by: "offset" }, params, options);
  }

  /**
   * Preview a file before its import.
   *
   * Previews an import whose file was uploaded with `hold`.
   * @example
   * ```ts
   * await mailmill.contacts.imports.preview(id);
   * ```
   */
  preview(id: string, params?: t.ContactsImportsPreviewParams, options?: CallOptions): Promise<t.ImportPreviewed> {
    return this._get(at`/contacts/imports/${id}/preview`, params, options);
  }

  /**
   * Import an uploaded file.
   *
   * Starts an import whose file was uploaded with `hold`.
   * @example
   * ```ts
   * await mailmill.contacts.imports.start(id);
   * ```
   */
  start(id: string, params?: t.ContactsImportsStartParams, options?: CallOptions): Promise<t.ImportStarted> {
    return this._post(at`/contacts/imports/${id}/start`, params, options, { keyed: true });
  }
}

export class ContactsExports extends Resource<Mailmill> {
  /**
   * Export contacts to a CSV file.
   * @example
   * ```ts
   * await mailmill.contacts.exports.create({ projectId });
   * ```
   */
  create(params: t.ContactsExportsCreateParams, options?: CallOptions): Promise<t.ExportView> {
    return this._post("/contacts/exports", params, options, { keyed: true });
  }

  /**
   * Get the progress of an export.
   *
   * Once the file has been written, the response contains downloadUrl for one hour.
   * @example
   * ```ts
   * await mailmill.contacts.exports.get(jobId, { projectId });
   * ```
   */
  get(jobId: string, params: t.ContactsExportsGetParams, options?: CallOptions): Promise<t.ExportView> {
    return this._get(at`/contacts/exports/${jobId}`, params, options);
  }
}

export class ContactsJobs extends Resource<Mailmill> {
  /**
   * List the newest imports, exports and bulk changes.
   *
   * Lists jobs in any state.
   * @example
   * ```ts
   * await mailmill.contacts.jobs.list();
   * ```
   */
  list(params?: t.ContactsJobsListParams, options?: CallOptions): Promise<t.ContactJobs> {
    return this._get("/contacts/jobs", params, options);
  }

  /**
   * Get the kind, project and status of a contacts job.
   *
   * Returns finished jobs until 30 days after they end.
   * @example
   * ```ts
   * await mailmill.contacts.jobs.get(id);
   * ```
   */
  get(id: string, options?: CallOptions): Promise<t.ContactJob> {
    return this._get(at`/contacts/jobs/${id}`, undefined, options);
  }

  /**
   * Acknowledge a failed import, export or bulk change.
   *
   * The job stays in the list but no longer needs attention.
   * @example
   * ```ts
   * await mailmill.contacts.jobs.markSeen(id);
   * ```
   */
  markSeen(id: string, params?: t.ContactsJobsMarkSeenParams, options?: CallOptions): Promise<t.ContactJob> {
    return this._post(at`/contacts/jobs/${id}/seen`, params, options);
  }
}

export class Contacts extends Resource<Mailmill> {
  /** @see {@link ContactsBulk} */
  readonly bulk = new ContactsBulk(this._client);

  /** @see {@link ContactsBulkChanges} */
  readonly bulkChanges = new ContactsBulkChanges(this._client);

  /** @see {@link ContactsImports} */
  readonly imports = new ContactsImports(this._client);

  /** @see {@link ContactsExports} */
  readonly exports = new ContactsExports(this._client);

  /** @see {@link ContactsJobs} */
  readonly jobs = new ContactsJobs(this._client);

  /**
   * List and search contacts.
   *
   * All filters must match.
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
   * Emits subscriber.added.
   * @example
   * ```ts
   * await mailmill.contacts.create({ projectId, email: "ada@example.com" });
   * ```
   */
  create(params: t.ContactsCreateParams, options?: CallOptions): Promise<t.ContactView> {
    return this._post("/contacts", params, options, { keyed: true });
  }

  /**
   * Get a contact.
   * @example
   * ```ts
   * await mailmill.contacts.get(id, { projectId });
   * ```
   */
  get(id: string, params: t.ContactsGetParams, options?: CallOptions): Promise<t.ContactView> {
    return this._get(at`/contacts/${id}`, params, options);
  }

  /**
   * Change a contact.
   *
   * Emits subscriber.updated, and subscriber.unsubscribed when the status becomes unsubscribed.
   * @example
   * ```ts
   * await mailmill.contacts.update(id, { projectId });
   * ```
   */
  update(id: string, params: t.ContactsUpdateParams, options?: CallOptions): Promise<t.ContactView> {
    return this._patch(at`/contacts/${id}`, params, options);
  }

  /**
   * Delete a contact.
   *
   * Emits subscriber.unsubscribed with action "deleted".
   * @example
   * ```ts
   * await mailmill.contacts.delete(id, { projectId });
   * ```
   */
  delete(id: string, params: t.ContactsDeleteParams, options?: CallOptions): Promise<t.DeletedContact> {
    return this._delete(at`/contacts/${id}`, params, options);
  }

  /**
   * Get the project of a contact.
   * @example
   * ```ts
   * await mailmill.contacts.getProject(id);
   * ```
   */
  getProject(id: string, options?: CallOptions): Promise<t.OwningProject> {
    return this._get(at`/contacts/${id}/project`, undefined, options);
  }

  /**
   * List the contact fields.
   *
   * Examines at most the newest 50,000 contacts of the project, segment or tag.
   * @example
   * ```ts
   * await mailmill.contacts.fieldCatalog(projectId);
   * ```
   */
  fieldCatalog(projectId: string, params?: t.ContactsFieldCatalogParams, options?: CallOptions): Promise<t.FieldCatalog> {
    return this._get(at`/projects/${projectId}/field-catalog`, params, options);
  }

  /**
   * Change a contact's status.
   *
   * Every change of the status is allowed; for example, this can resubscribe a contact who unsubscribed or bounced.
   * @example
   * ```ts
   * await mailmill.contacts.setStatus({ projectId, email: "ada@example.com", status: "unsubscribed" });
   * ```
   */
  setStatus(params: t.ContactsSetStatusParams, options?: CallOptions): Promise<t.StatusChangeResult> {
    return this._post("/contacts/status", params, options);
  }

  /**
   * Unsubscribe a contact.
   *
   * Emits subscriber.unsubscribed with action "unsubscribed", or "tags_left" if only tags are removed.
   * @example
   * ```ts
   * await mailmill.contacts.unsubscribe({ email: "ada@example.com", projectId });
   * ```
   */
  unsubscribe(params: t.ContactsUnsubscribeParams, options?: CallOptions): Promise<t.StatusChangeResult> {
    return this._post("/subscribers/unsubscribe", params, options);
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
    return this._post("/contacts/bulk-delete", params, options, { keyed: true });
  }

  /**
   * List the events of a contact.
   *
   * Returns the contact's customer events, newest first by time of occurrence.
   * @example
   * ```ts
   * for await (const item of mailmill.contacts.events(id, { projectId })) console.log(item);
   * ```
   */
  events(id: string, params: t.ContactsEventsParams, options?: CallOptions): List<t.CustomerEventPart, t.CustomerEvent> {
    return this._list(at`/contacts/${id}/events`, { items: "events", by: "cursor" }, params, options);
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
    return this._get(at`/contacts/${id}/topics`, params, options);
  }

  /**
   * Export all data about a contact.
   * @example
   * ```ts
   * await mailmill.contacts.personalData(id, { projectId });
   * ```
   */
  personalData(id: string, params: t.ContactsPersonalDataParams, options?: CallOptions): Promise<t.PersonalData> {
    return this._get(at`/contacts/${id}/personal-data`, params, options);
  }

  /**
   * Get the timeline of a contact.
   *
   * Lists, newest first: messages, bounces, complaints, unsubscribes, customer events, and opens and clicks by people.
   * @example
   * ```ts
   * for await (const item of mailmill.contacts.timeline(id, { projectId })) console.log(item);
   * ```
   */
  timeline(id: string, params: t.ContactsTimelineParams, options?: CallOptions): List<t.TimelinePart, t.TimelineEntry> {
    return this._list(at`/contacts/${id}/timeline`, { items: "entries", by: "cursor" }, params, options);
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
  importAndWait(params: t.ContactsImportsCreateParams, options?: WaitOptions<t.ImportProgress>): Promise<t.ImportProgress> {
    return this._wait(
      (options) => this._client.contacts.imports.create(params, options),
      (started, options) => this._client.contacts.imports.get(started.id, undefined, options),
      { done: ["completed","uploaded"], failed: ["failed"], fields: [] },
      options,
    );
  }

  /**
   * Export contacts to a CSV file, and wait until the job has ended.
   *
   * @throws JobFailedError if the job fails.
   * @example
   * ```ts
   * const status = await mailmill.contacts.exportAndWait({ projectId }, {
   *   onProgress: (status) => console.log(status.status),
   * });
   * ```
   */
  exportAndWait(params: t.ContactsExportsCreateParams, options?: WaitOptions<t.ExportView>): Promise<t.CompletedExportView> {
    return this._wait(
      (options) => this._client.contacts.exports.create(params, options),
      (started, options) => this._client.contacts.exports.get(started.jobId, { projectId: params.projectId }, options),
      { done: ["completed"], failed: ["failed"], fields: ["downloadUrl"] },
      options,
    );
  }
}

export class Connections extends Resource<Mailmill> {
  /**
   * List connections to other platforms.
   *
   * Returns the connections with their status, without keys and tokens.
   * @example
   * ```ts
   * await mailmill.connections.list();
   * ```
   */
  list(params?: t.ConnectionsListParams, options?: CallOptions): Promise<t.ConnectionList> {
    return this._get("/connections", params, options);
  }

  /**
   * Remove a connection.
   *
   * Deletes the stored key or tokens.
   * @example
   * ```ts
   * await mailmill.connections.delete({ connectionId });
   * ```
   */
  delete(params: t.ConnectionsDeleteParams, options?: CallOptions): Promise<t.RemovedConnection> {
    return this._delete("/connections", params, options);
  }

  /**
   * Connect an account on another platform.
   *
   * Tests the key with the platform before it is stored.
   * @example
   * ```ts
   * await mailmill.connections.create(provider, { apiKey: "pk_0123456789" });
   * ```
   */
  create(provider: t.ConnectionProvider, params: t.ConnectionsCreateParams, options?: CallOptions): Promise<t.ConnectionView> {
    return this._post(at`/connections/${provider}`, params, options, { keyed: true });
  }

  /**
   * Start a sign-in to another platform.
   *
   * Returns the URL of the platform's page on which the signed-in user allows access (OAuth 2).
   * @example
   * ```ts
   * await mailmill.connections.authorize(provider);
   * ```
   */
  authorize(provider: t.ConnectionProvider, params?: t.ConnectionsAuthorizeParams, options?: CallOptions): Promise<t.SignInPage> {
    return this._post(at`/connections/${provider}/authorize`, params, options);
  }

  /**
   * Complete a sign-in to another platform.
   *
   * Connects the account that the user signed in to, or reconnects it, and resumes imports that are waiting for it.
   * @example
   * ```ts
   * await mailmill.connections.complete(provider, { code: "8f3d6c1e", state: "test.5d41402abc4b2a76" });
   * ```
   */
  complete(provider: t.ConnectionProvider, params: t.ConnectionsCompleteParams, options?: CallOptions): Promise<t.ConnectionView> {
    return this._post(at`/connections/${provider}/complete`, params, options);
  }

  /**
   * List the import sources of a platform.
   *
   * Returns the lists, segments, tags and audiences of the connected account, with their sizes if the platform reports them.
   * @example
   * ```ts
   * await mailmill.connections.sources(provider, { projectId });
   * ```
   */
  sources(provider: t.ConnectionProvider, params: t.ConnectionsSourcesParams, options?: CallOptions): Promise<t.ImportSources> {
    return this._get(at`/contacts/imports/providers/${provider}/sources`, params, options);
  }

  /**
   * Preview an import from a platform.
   *
   * Reads up to 2,000 contacts from the sources, and returns their fields and what the import would change.
   * @example
   * ```ts
   * await mailmill.connections.previewImport({ provider: "platform_a", projectId, sources: [{"id":"Y6nRLr","type":"list","name":"Newsletter"}] });
   * ```
   */
  previewImport(params: t.ConnectionsPreviewImportParams, options?: CallOptions): Promise<t.ImportPreview> {
    return this._post("/contacts/imports/provider/preview", params, options);
  }

  /**
   * Import contacts from a platform.
   *
   * Returns once the import is stored; GET /v1/contacts/imports/{id} returns the progress.
   * @example
   * ```ts
   * await mailmill.connections.importContacts({ provider: "platform_a", projectId, sources: [{"id":"Y6nRLr","type":"list","name":"Newsletter"}] });
   * ```
   */
  importContacts(params: t.ConnectionsImportContactsParams, options?: CallOptions): Promise<t.ProviderImportStarted> {
    return this._post("/contacts/imports/provider", params, options, { keyed: true });
  }

  /**
   * Import contacts from a platform, and wait until the job has ended.
   *
   * @throws JobFailedError if the job fails.
   * @example
   * ```ts
   * const status = await mailmill.connections.importAndWait({ provider: "platform_a", projectId, sources: [{"id":"Y6nRLr","type":"list","name":"Newsletter"}] }, {
   *   onProgress: (status) => console.log(status.status),
   * });
   * ```
   */
  importAndWait(params: t.ConnectionsImportContactsParams, options?: WaitOptions<t.ImportProgress>): Promise<t.ImportProgress> {
    return this._wait(
      (options) => this._client.connections.importContacts(params, options),
      (started, options) => this._client.contacts.imports.get(started.id, undefined, options),
      { done: ["completed","uploaded"], failed: ["failed"], fields: [] },
      options,
    );
  }
}

export class Storefront extends Resource<Mailmill> {
  /**
   * Connect a store to a project.
   * @example
   * ```ts
   * await mailmill.storefront.connect({ projectId, storefrontStoreUrl: "https://acme.myshopify.com" });
   * ```
   */
  connect(params: t.StorefrontConnectParams, options?: CallOptions): Promise<t.StorefrontConnection> {
    return this._post("/storefront/connect", params, options, { keyed: true });
  }

  /**
   * Start the installation of the app on a Shopify store.
   * @example
   * ```ts
   * await mailmill.storefront.authorize({ projectId, storefrontStoreUrl: "https://acme.myshopify.com" });
   * ```
   */
  authorize(params: t.StorefrontAuthorizeParams, options?: CallOptions): Promise<t.InstallPage> {
    return this._post("/storefront/authorize", params, options);
  }

  /**
   * Complete the installation of the app on a Shopify store.
   * @example
   * ```ts
   * await mailmill.storefront.complete({ query: "code=0907a61c&hmac=700e2dad&shop=acme.myshopify.com&state=5d414" });
   * ```
   */
  complete(params: t.StorefrontCompleteParams, options?: CallOptions): Promise<t.StorefrontConnection> {
    return this._post("/storefront/complete", params, options);
  }

  /**
   * List connected stores.
   * @example
   * ```ts
   * await mailmill.storefront.list();
   * ```
   */
  list(params?: t.StorefrontListParams, options?: CallOptions): Promise<t.StoreList> {
    return this._get("/storefront/stores", params, options);
  }

  /**
   * Import a store again.
   *
   * Starts an import of the products, and of the customers unless they are excluded.
   * @example
   * ```ts
   * await mailmill.storefront.sync(serverId);
   * ```
   */
  sync(serverId: string, options?: CallOptions): Promise<t.ConnectedStore> {
    return this._post(at`/storefront/stores/${serverId}/sync`, undefined, options, { keyed: true });
  }

  /**
   * Disconnect a store.
   *
   * Deletes the stored keys, and removes the webhooks at the store if it can be reached.
   * @example
   * ```ts
   * await mailmill.storefront.disconnect(serverId);
   * ```
   */
  disconnect(serverId: string, options?: CallOptions): Promise<t.DisconnectedStore> {
    return this._delete(at`/storefront/stores/${serverId}`, undefined, options);
  }
}

export class Events extends Resource<Mailmill> {
  /**
   * Record a customer event.
   *
   * The service stores the event with its contact for 90 days.
   * @example
   * ```ts
   * await mailmill.events.record({ projectId, name: "purchase.completed", identifiers: {"email":"ada@example.com","externalOrderId":"order-1001"} });
   * ```
   */
  record(params: t.EventsRecordParams, options?: CallOptions): Promise<t.RecordedEvent> {
    return this._post("/events", params, options, { keyed: true });
  }

  /**
   * Record up to 500 customer events.
   *
   * Events are processed in order, each like a single event.
   * @example
   * ```ts
   * await mailmill.events.recordBatch({ projectId, events: [{"name":"purchase.completed","identifiers":{"email":"ada@example.com","externalOrderId":"order-1001"},"properties":{"value":49.9,"currency":"EUR"},"dedupeKey":"order-1001:paid"},{"name":"cart.abandoned","identifiers":{"email":"grace@example"}}] });
   * ```
   */
  recordBatch(params: t.EventsRecordBatchParams, options?: CallOptions): Promise<t.RecordedEvents> {
    return this._post("/events/batch", params, options);
  }

  /**
   * List event names.
   *
   * Returns the event names that segments can filter by.
   * @example
   * ```ts
   * await mailmill.events.names(projectId);
   * ```
   */
  names(projectId: string, params?: t.EventsNamesParams, options?: CallOptions): Promise<t.EventNames> {
    return this._get(at`/projects/${projectId}/event-names`, params, options);
  }
}

export class Tags extends Resource<Mailmill> {
  /**
   * List tags.
   *
   * Lists tags.
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
   * Adding a new tag to a contact also creates the tag.
   * @example
   * ```ts
   * await mailmill.tags.create({ projectId, name: "newsletter" });
   * ```
   */
  create(params: t.TagsCreateParams, options?: CallOptions): Promise<t.TagView> {
    return this._post("/tags", params, options, { keyed: true });
  }

  /**
   * Get a tag.
   * @example
   * ```ts
   * await mailmill.tags.get(id, { projectId });
   * ```
   */
  get(id: string, params: t.TagsGetParams, options?: CallOptions): Promise<t.TagView> {
    return this._get(at`/tags/${id}`, params, options);
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
    return this._patch(at`/tags/${id}`, params, options);
  }

  /**
   * Delete a tag.
   *
   * The tag is removed from its contacts, which are kept.
   * @example
   * ```ts
   * await mailmill.tags.delete(id, { projectId });
   * ```
   */
  delete(id: string, params: t.TagsDeleteParams, options?: CallOptions): Promise<t.DeletedTag> {
    return this._delete(at`/tags/${id}`, params, options);
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
    return this._post("/topics", params, options, { keyed: true });
  }

  /**
   * Get a topic.
   * @example
   * ```ts
   * await mailmill.topics.get(id, { projectId });
   * ```
   */
  get(id: string, params: t.TopicsGetParams, options?: CallOptions): Promise<t.TopicView> {
    return this._get(at`/topics/${id}`, params, options);
  }

  /**
   * Change a topic.
   *
   * A new default applies to contacts who have not made a choice.
   * @example
   * ```ts
   * await mailmill.topics.update(id, { projectId });
   * ```
   */
  update(id: string, params: t.TopicsUpdateParams, options?: CallOptions): Promise<t.TopicView> {
    return this._patch(at`/topics/${id}`, params, options);
  }

  /**
   * Delete a topic.
   *
   * Also deletes the contacts' choices for this topic.
   * @example
   * ```ts
   * await mailmill.topics.delete(id, { projectId });
   * ```
   */
  delete(id: string, params: t.TopicsDeleteParams, options?: CallOptions): Promise<t.DeletedTopic> {
    return this._delete(at`/topics/${id}`, params, options);
  }

  /**
   * Subscribe a contact to a topic.
   *
   * Stores the contact's explicit choice, which overrides the topic's default.
   * @example
   * ```ts
   * await mailmill.topics.subscribe(id, { subscriberId, projectId });
   * ```
   */
  subscribe(id: string, params: t.TopicsSubscribeParams, options?: CallOptions): Promise<t.ContactTopicChoice> {
    return this._post(at`/topics/${id}/subscribe`, params, options);
  }

  /**
   * Unsubscribe a contact from a topic.
   *
   * Stores the contact's explicit choice, which overrides the topic's default.
   * @example
   * ```ts
   * await mailmill.topics.unsubscribe(id, { subscriberId, projectId });
   * ```
   */
  unsubscribe(id: string, params: t.TopicsUnsubscribeParams, options?: CallOptions): Promise<t.ContactTopicChoice> {
    return this._post(at`/topics/${id}/unsubscribe`, params, options);
  }
}

export class Segments extends Resource<Mailmill> {
  /**
   * List segments.
   *
   * Lists segments, newest first.
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
   * Returns 409 if a segment in the project has this name; data.id is then the ID of that segment.
   * @example
   * ```ts
   * await mailmill.segments.create({ projectId, name: "Paying readers" });
   * ```
   */
  create(params: t.SegmentsCreateParams, options?: CallOptions): Promise<t.SegmentView> {
    return this._post("/segments", params, options, { keyed: true });
  }

  /**
   * Preview a filter without saving it.
   *
   * Returns the number of matching contacts and some of them.
   * @example
   * ```ts
   * await mailmill.segments.preview({ projectId });
   * ```
   */
  preview(params: t.SegmentsPreviewParams, options?: CallOptions): Promise<t.SegmentPreview> {
    return this._post("/segments/preview", params, options);
  }

  /**
   * Get a segment.
   *
   * Includes the number of contacts that match the filter now, unless `count` is false.
   * @example
   * ```ts
   * await mailmill.segments.get(id, { projectId });
   * ```
   */
  get(id: string, params: t.SegmentsGetParams, options?: CallOptions): Promise<t.SegmentView> {
    return this._get(at`/segments/${id}`, params, options);
  }

  /**
   * Change a segment.
   * @example
   * ```ts
   * await mailmill.segments.update(id, { projectId });
   * ```
   */
  update(id: string, params: t.SegmentsUpdateParams, options?: CallOptions): Promise<t.SegmentView> {
    return this._patch(at`/segments/${id}`, params, options);
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
    return this._delete(at`/segments/${id}`, params, options);
  }

  /**
   * Get the project of a segment.
   * @example
   * ```ts
   * await mailmill.segments.getProject(id);
   * ```
   */
  getProject(id: string, options?: CallOptions): Promise<t.OwningProject> {
    return this._get(at`/segments/${id}/project`, undefined, options);
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
   * Takes effect immediately for the whole account, including queued messages.
   * @example
   * ```ts
   * await mailmill.suppressions.create({ email: "ada@example.com" });
   * ```
   */
  create(params: t.SuppressionsCreateParams, options?: CallOptions): Promise<t.SuppressionView> {
    return this._post("/suppressions", params, options, { keyed: true });
  }

  /**
   * Remove an address from the suppression list.
   *
   * Remove an address if the recipient wants email again or a mail server rejected the address by mistake.
   * @example
   * ```ts
   * await mailmill.suppressions.delete(email);
   * ```
   */
  delete(email: string, options?: CallOptions): Promise<t.DeletedSuppression> {
    return this._delete(at`/suppressions/${email}`, undefined, options);
  }
}

export class SendsBatches extends Resource<Mailmill> {
  /**
   * Get a batch.
   *
   * Returns the progress of a send to an audience: the number of recipients in each state.
   * @example
   * ```ts
   * await mailmill.sends.batches.get(batchId);
   * ```
   */
  get(batchId: string, options?: CallOptions): Promise<t.BatchView> {
    return this._get(at`/sending/batches/${batchId}`, undefined, options);
  }

  /**
   * Cancel a batch.
   *
   * Skips the remaining recipients.
   * @example
   * ```ts
   * await mailmill.sends.batches.cancel(batchId);
   * ```
   */
  cancel(batchId: string, options?: CallOptions): Promise<t.BatchView> {
    return this._post(at`/sending/batches/${batchId}/cancel`, undefined, options, { keyed: true });
  }

  /**
   * Send again to recipients whose delivery is unknown.
   * @example
   * ```ts
   * await mailmill.sends.batches.resendUnknown(batchId);
   * ```
   */
  resendUnknown(batchId: string, options?: CallOptions): Promise<t.ResentBatch> {
    return this._post(at`/sending/batches/${batchId}/resend-unknown`, undefined, options, { keyed: true });
  }
}

export class Sends extends Resource<Mailmill> {
  /** @see {@link SendsBatches} */
  readonly batches = new SendsBatches(this._client);

  /**
   * Get a direct send.
   *
   * Returns the status of each recipient.
   * @example
   * ```ts
   * await mailmill.sends.get(sendId);
   * ```
   */
  get(sendId: string, options?: CallOptions): Promise<t.SendView> {
    return this._get(at`/sending/${sendId}`, undefined, options);
  }
}

export class Metrics extends Resource<Mailmill> {
  /**
   * Get sending totals.
   *
   * Returns the totals for the key's environment.
   * @example
   * ```ts
   * await mailmill.metrics.sending();
   * ```
   */
  sending(params?: t.MetricsSendingParams, options?: CallOptions): Promise<t.SendingMetrics> {
    return this._get("/metrics/sending", params, options);
  }

  /**
   * Get the usage and cost of language models.
   *
   * Returns the usage of the brands in the key's environment.
   * @example
   * ```ts
   * await mailmill.metrics.models();
   * ```
   */
  models(params?: t.MetricsModelsParams, options?: CallOptions): Promise<t.ModelMetrics> {
    return this._get("/metrics/models", params, options);
  }

  /**
   * Get daily sending statistics.
   *
   * Returns the statistics of all campaigns, batches, direct sends and test sends of all brands in the key's environment.
   * @example
   * ```ts
   * await mailmill.metrics.timeline();
   * ```
   */
  timeline(params?: t.MetricsTimelineParams, options?: CallOptions): Promise<t.SendingTimeline> {
    return this._get("/metrics/timeline", params, options);
  }
}

export class Plan extends Resource<Mailmill> {
  /**
   * Get the account's limits.
   *
   * Returns the limits in effect, and how much of each quota is used in the key's environment.
   * @example
   * ```ts
   * await mailmill.plan.get();
   * ```
   */
  get(options?: CallOptions): Promise<t.AccountPlan> {
    return this._get("/plan", undefined, options);
  }
}

export class Inbox extends Resource<Mailmill> {
  /**
   * List the built-in inbox.
   *
   * Lists the messages sent with test keys and, in development mode, with live keys, newest first.
   * @example
   * ```ts
   * for await (const item of mailmill.inbox.list()) console.log(item);
   * ```
   */
  list(params?: t.InboxListParams, options?: CallOptions): List<t.InboxListPage, t.MessageView> {
    return this._list("/inbox", { items: "messages", by: "offset" }, params, options);
  }

  /**
   * Get a message from the built-in inbox.
   * @example
   * ```ts
   * await mailmill.inbox.get(id);
   * ```
   */
  get(id: string, options?: CallOptions): Promise<t.WholeMessage> {
    return this._get(at`/inbox/${id}`, undefined, options);
  }

  /**
   * Delete a message from the built-in inbox.
   *
   * Deletes only the message; the record of its send is kept.
   * @example
   * ```ts
   * await mailmill.inbox.delete(id);
   * ```
   */
  delete(id: string, options?: CallOptions): Promise<t.DeletedMessage> {
    return this._delete(at`/inbox/${id}`, undefined, options);
  }

  /**
   * Show a message from the built-in inbox as a page.
   *
   * The page runs no scripts, submits no forms, and loads images from other servers only if `images` is true.
   * @example
   * ```ts
   * await mailmill.inbox.html(id);
   * ```
   */
  html(id: string, params?: t.InboxHtmlParams, options?: CallOptions): Promise<string> {
    return this._get(at`/inbox/${id}/html`, params, options, { answer: "text" });
  }

  /**
   * Download a message from the built-in inbox.
   *
   * Returns the exact bytes that would have been sent, including signatures.
   * @example
   * ```ts
   * await mailmill.inbox.raw(id);
   * ```
   */
  raw(id: string, options?: CallOptions): Promise<Uint8Array> {
    return this._get(at`/inbox/${id}/raw`, undefined, options, { answer: "bytes" });
  }

  /**
   * Take a screenshot of a message in the built-in inbox.
   *
   * Returns a PNG image of the whole message, 600 CSS pixels wide, with two image pixels per CSS pixel.
   * @example
   * ```ts
   * await mailmill.inbox.screenshot(id);
   * ```
   */
  screenshot(id: string, options?: CallOptions): Promise<Uint8Array> {
    return this._get(at`/inbox/${id}/screenshot`, undefined, options, { answer: "bytes" });
  }
}

export class Campaigns extends Resource<Mailmill> {
  /**
   * Create a campaign from a generated email.
   *
   * The campaign is a draft until you send or schedule it.
   * @example
   * ```ts
   * await mailmill.campaigns.create({ projectId, name: "Winter teas", from: "news@acme.example", fromName: "Acme", recipientType: "segment" });
   * ```
   */
  create(params: t.CampaignsCreateParams, options?: CallOptions): Promise<t.CampaignView> {
    return this._post("/campaigns", params, options, { keyed: true });
  }

  /**
   * List campaigns.
   *
   * Lists campaigns, newest first.
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
   * Lists campaigns, newest first.
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
    return this._get(at`/campaigns/${id}`, params, options);
  }

  /**
   * Change a campaign that has not started.
   *
   * A scheduled campaign stays scheduled and must still be ready to start after the change.
   * @example
   * ```ts
   * await mailmill.campaigns.update(id);
   * ```
   */
  update(id: string, params?: t.CampaignsUpdateParams, options?: CallOptions): Promise<t.CampaignView> {
    return this._patch(at`/campaigns/${id}`, params, options);
  }

  /**
   * Delete a draft.
   *
   * Only campaigns with the status draft or pending_review can be deleted.
   * @example
   * ```ts
   * await mailmill.campaigns.delete(id);
   * ```
   */
  delete(id: string, params?: t.CampaignsDeleteParams, options?: CallOptions): Promise<t.DeletedCampaign> {
    return this._delete(at`/campaigns/${id}`, params, options);
  }

  /**
   * Duplicate a campaign as a draft.
   *
   * The copy has all settings of the original except its name and schedule.
   * @example
   * ```ts
   * await mailmill.campaigns.duplicate(id);
   * ```
   */
  duplicate(id: string, params?: t.CampaignsDuplicateParams, options?: CallOptions): Promise<t.CampaignView> {
    return this._post(at`/campaigns/${id}/duplicate`, params, options, { keyed: true });
  }

  /**
   * Send a test email of a campaign.
   *
   * Sends the email as it would go out now.
   * @example
   * ```ts
   * await mailmill.campaigns.test(id, { emails: ["ada@acme.example"] });
   * ```
   */
  test(id: string, params: t.CampaignsTestParams, options?: CallOptions): Promise<t.TestSent> {
    return this._post(at`/campaigns/${id}/test`, params, options, { keyed: true });
  }

  /**
   * Preview the outcome of sending a campaign.
   *
   * Checks every recipient as sending does, but sends no email.
   * @example
   * ```ts
   * await mailmill.campaigns.dryRun(id);
   * ```
   */
  dryRun(id: string, params?: t.CampaignsDryRunParams, options?: CallOptions): Promise<t.CampaignDryRun> {
    return this._get(at`/campaigns/${id}/dry-run`, params, options);
  }

  /**
   * Send a campaign now.
   *
   * Returns as soon as the campaign is stored for sending; check the progress with GET /v1/campaigns/{id}.
   * @example
   * ```ts
   * await mailmill.campaigns.send(id);
   * ```
   */
  send(id: string, params?: t.CampaignsSendParams, options?: CallOptions): Promise<t.CampaignView> {
    return this._post(at`/campaigns/${id}/send`, params, options, { keyed: true });
  }

  /**
   * Schedule a campaign.
   *
   * At the start time, the campaign sends the current version of its email to the audience at that time.
   * @example
   * ```ts
   * await mailmill.campaigns.schedule(id, { scheduledAt });
   * ```
   */
  schedule(id: string, params: t.CampaignsScheduleParams, options?: CallOptions): Promise<t.CampaignView> {
    return this._post(at`/campaigns/${id}/schedule`, params, options, { keyed: true });
  }

  /**
   * Reschedule a campaign.
   *
   * Changes the start time of a campaign that is scheduled or pending review.
   * @example
   * ```ts
   * await mailmill.campaigns.reschedule(id, { scheduledAt });
   * ```
   */
  reschedule(id: string, params: t.CampaignsRescheduleParams, options?: CallOptions): Promise<t.CampaignView> {
    return this._post(at`/campaigns/${id}/reschedule`, params, options, { keyed: true });
  }

  /**
   * Unschedule a campaign.
   *
   * The campaign becomes a draft again.
   * @example
   * ```ts
   * await mailmill.campaigns.unschedule(id);
   * ```
   */
  unschedule(id: string, params?: t.CampaignsUnscheduleParams, options?: CallOptions): Promise<t.CampaignView> {
    return this._post(at`/campaigns/${id}/unschedule`, params, options, { keyed: true });
  }

  /**
   * Pause a campaign that is being sent.
   *
   * Nothing more is sent until you resume the campaign.
   * @example
   * ```ts
   * await mailmill.campaigns.pause(id);
   * ```
   */
  pause(id: string, params?: t.CampaignsPauseParams, options?: CallOptions): Promise<t.CampaignView> {
    return this._post(at`/campaigns/${id}/pause`, params, options, { keyed: true });
  }

  /**
   * Resume a paused campaign.
   *
   * Sending continues with the remaining recipients.
   * @example
   * ```ts
   * await mailmill.campaigns.resume(id);
   * ```
   */
  resume(id: string, params?: t.CampaignsResumeParams, options?: CallOptions): Promise<t.CampaignView> {
    return this._post(at`/campaigns/${id}/resume`, params, options, { keyed: true });
  }

  /**
   * Cancel a campaign.
   *
   * A scheduled campaign does not start.
   * @example
   * ```ts
   * await mailmill.campaigns.cancel(id);
   * ```
   */
  cancel(id: string, params?: t.CampaignsCancelParams, options?: CallOptions): Promise<t.CampaignView> {
    return this._post(at`/campaigns/${id}/cancel`, params, options, { keyed: true });
  }

  /**
   * Archive a campaign.
   *
   * Lists with archived=false no longer include the campaign.
   * @example
   * ```ts
   * await mailmill.campaigns.archive(id);
   * ```
   */
  archive(id: string, params?: t.CampaignsArchiveParams, options?: CallOptions): Promise<t.CampaignView> {
    return this._post(at`/campaigns/${id}/archive`, params, options, { keyed: true });
  }

  /**
   * Unarchive a campaign.
   *
   * Returns 409 if the campaign is not archived.
   * @example
   * ```ts
   * await mailmill.campaigns.unarchive(id);
   * ```
   */
  unarchive(id: string, params?: t.CampaignsUnarchiveParams, options?: CallOptions): Promise<t.CampaignView> {
    return this._post(at`/campaigns/${id}/unarchive`, params, options, { keyed: true });
  }

  /**
   * Get a campaign's statistics.
   * @example
   * ```ts
   * await mailmill.campaigns.stats(id);
   * ```
   */
  stats(id: string, params?: t.CampaignsStatsParams, options?: CallOptions): Promise<t.CampaignStats> {
    return this._get(at`/campaigns/${id}/stats`, params, options);
  }

  /**
   * Get a campaign's results per day and per link.
   *
   * The results exclude opens and clicks by bots.
   * @example
   * ```ts
   * await mailmill.campaigns.report(id);
   * ```
   */
  report(id: string, params?: t.CampaignsReportParams, options?: CallOptions): Promise<t.CampaignReport> {
    return this._get(at`/campaigns/${id}/report`, params, options);
  }

  /**
   * List a campaign's recipients.
   *
   * Returns a row for each recipient; rows of skipped recipients include the reason.
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
   * If the process or a connection fails during a handoff, it is uncertain whether a recipient has the message.
   * @example
   * ```ts
   * await mailmill.campaigns.resendUnknown(id);
   * ```
   */
  resendUnknown(id: string, params?: t.CampaignsResendUnknownParams, options?: CallOptions): Promise<t.CampaignResent> {
    return this._post(at`/campaigns/${id}/resend-unknown`, params, options, { keyed: true });
  }
}

export class MailServices extends Resource<Mailmill> {
  /**
   * List mail services.
   *
   * Lists mail services, oldest first.
   * @example
   * ```ts
   * for await (const item of mailmill.mailServices.list()) console.log(item);
   * ```
   */
  list(params?: t.MailServicesListParams, options?: CallOptions): List<t.MailServicesListPage, t.MailFeedbackView> {
    return this._list("/mail-services", { items: "mailServices", by: "offset" }, params, options);
  }

  /**
   * Add a mail service.
   *
   * Only this response shows the URL of the webhook.
   * @example
   * ```ts
   * await mailmill.mailServices.create({ service: "mailgun" });
   * ```
   */
  create(params: t.MailServicesCreateParams, options?: CallOptions): Promise<t.MailFeedbackWithUrl> {
    return this._post("/mail-services", params, options, { keyed: true });
  }

  /**
   * Get a mail service.
   *
   * The response shows whether events arrive, and why the last request was rejected.
   * @example
   * ```ts
   * await mailmill.mailServices.get(mailServiceId);
   * ```
   */
  get(mailServiceId: string, options?: CallOptions): Promise<t.MailFeedbackView> {
    return this._get(at`/mail-services/${mailServiceId}`, undefined, options);
  }

  /**
   * Change a mail service.
   *
   * If the mail service shows the secret only after you enter the URL there, set the secret with this operation.
   * @example
   * ```ts
   * await mailmill.mailServices.update(mailServiceId);
   * ```
   */
  update(mailServiceId: string, params?: t.MailServicesUpdateParams, options?: CallOptions): Promise<t.MailFeedbackWithUrl> {
    return this._patch(at`/mail-services/${mailServiceId}`, params, options);
  }

  /**
   * Delete a mail service.
   *
   * After the deletion, the URL of its webhook returns 404.
   * @example
   * ```ts
   * await mailmill.mailServices.delete(mailServiceId);
   * ```
   */
  delete(mailServiceId: string, options?: CallOptions): Promise<t.DeletedMailService> {
    return this._delete(at`/mail-services/${mailServiceId}`, undefined, options);
  }

  /**
   * Test a mail service.
   *
   * Sends a sample hard bounce through the checks for real requests.
   * @example
   * ```ts
   * await mailmill.mailServices.test(mailServiceId);
   * ```
   */
  test(mailServiceId: string, options?: CallOptions): Promise<t.MailServiceTested> {
    return this._post(at`/mail-services/${mailServiceId}/test`, undefined, options);
  }
}

export class IncomingWebhooks extends Resource<Mailmill> {
  /**
   * List incoming webhooks.
   *
   * Lists incoming webhooks, oldest first.
   * @example
   * ```ts
   * for await (const item of mailmill.incomingWebhooks.list()) console.log(item);
   * ```
   */
  list(params?: t.IncomingWebhooksListParams, options?: CallOptions): List<t.IncomingWebhooksListPage, t.HookView> {
    return this._list("/incoming-webhooks", { items: "hooks", by: "offset" }, params, options);
  }

  /**
   * Create an incoming webhook.
   *
   * Only this response shows the URL.
   * @example
   * ```ts
   * await mailmill.incomingWebhooks.create({ projectId, name: "Newsletter form" });
   * ```
   */
  create(params: t.IncomingWebhooksCreateParams, options?: CallOptions): Promise<t.HookWithUrl> {
    return this._post("/incoming-webhooks", params, options, { keyed: true });
  }

  /**
   * Get an incoming webhook.
   *
   * The response does not include the URL, which is returned only when the URL is created.
   * @example
   * ```ts
   * await mailmill.incomingWebhooks.get(hook);
   * ```
   */
  get(hook: string, options?: CallOptions): Promise<t.HookView> {
    return this._get(at`/incoming-webhooks/${hook}`, undefined, options);
  }

  /**
   * Change an incoming webhook.
   *
   * The changes apply to requests that arrive later.
   * @example
   * ```ts
   * await mailmill.incomingWebhooks.update(hook);
   * ```
   */
  update(hook: string, params?: t.IncomingWebhooksUpdateParams, options?: CallOptions): Promise<t.HookWithUrl> {
    return this._patch(at`/incoming-webhooks/${hook}`, params, options);
  }

  /**
   * Delete an incoming webhook.
   *
   * After the deletion, its URL returns 404.
   * @example
   * ```ts
   * await mailmill.incomingWebhooks.delete(hook);
   * ```
   */
  delete(hook: string, options?: CallOptions): Promise<t.DeletedHook> {
    return this._delete(at`/incoming-webhooks/${hook}`, undefined, options);
  }

  /**
   * List the requests of an incoming webhook.
   *
   * Lists the last 50 requests, newest first.
   * @example
   * ```ts
   * await mailmill.incomingWebhooks.deliveries(hook);
   * ```
   */
  deliveries(hook: string, options?: CallOptions): Promise<t.HookDeliveries> {
    return this._get(at`/incoming-webhooks/${hook}/deliveries`, undefined, options);
  }

  /**
   * Test an incoming webhook.
   *
   * Returns the values that the mapping takes from a body, and whether they can be stored.
   * @example
   * ```ts
   * await mailmill.incomingWebhooks.test(hook, { body: {"data":{"email":"ada@example.com","first_name":"Ada"}} });
   * ```
   */
  test(hook: string, params: t.IncomingWebhooksTestParams, options?: CallOptions): Promise<t.HookTested> {
    return this._post(at`/incoming-webhooks/${hook}/test`, params, options);
  }
}

export class ScheduledImports extends Resource<Mailmill> {
  /**
   * List scheduled imports.
   *
   * Lists scheduled imports, oldest first.
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
   * The first run starts immediately.
   * @example
   * ```ts
   * await mailmill.scheduledImports.create({ projectId, name: "Shop customers" });
   * ```
   */
  create(params: t.ScheduledImportsCreateParams, options?: CallOptions): Promise<t.ScheduledImportView> {
    return this._post("/scheduled-imports", params, options, { keyed: true });
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
    return this._get(at`/scheduled-imports/${id}`, undefined, options);
  }

  /**
   * Change a scheduled import.
   *
   * After a change of the source or its mapping, the next run imports everything.
   * @example
   * ```ts
   * await mailmill.scheduledImports.update(id);
   * ```
   */
  update(id: string, params?: t.ScheduledImportsUpdateParams, options?: CallOptions): Promise<t.ScheduledImportView> {
    return this._patch(at`/scheduled-imports/${id}`, params, options);
  }

  /**
   * Delete a scheduled import.
   *
   * Contacts and events that were already imported are kept.
   * @example
   * ```ts
   * await mailmill.scheduledImports.delete(id);
   * ```
   */
  delete(id: string, options?: CallOptions): Promise<t.DeletedScheduledImport> {
    return this._delete(at`/scheduled-imports/${id}`, undefined, options);
  }

  /**
   * Run a scheduled import now.
   *
   * Ends a pause.
   * @example
   * ```ts
   * await mailmill.scheduledImports.run(id);
   * ```
   */
  run(id: string, options?: CallOptions): Promise<t.ScheduledImportView> {
    return this._post(at`/scheduled-imports/${id}/run`, undefined, options, { keyed: true });
  }
}

export class WebhooksDeliveries extends Resource<Mailmill> {
  /**
   * List deliveries.
   *
   * Lists deliveries, newest first, with the record of every attempt.
   * @example
   * ```ts
   * for await (const item of mailmill.webhooks.deliveries.list(webhookId)) console.log(item);
   * ```
   */
  list(webhookId: string, params?: t.WebhooksDeliveriesListParams, options?: CallOptions): List<t.WebhooksDeliveriesListPage, t.DeliveryView> {
    return this._list(at`/webhooks/${webhookId}/deliveries`, { items: "deliveries", by: "offset" }, params, options);
  }

  /**
   * Get a delivery.
   *
   * Includes every attempt: its time, and the endpoint's response or the error.
   * @example
   * ```ts
   * await mailmill.webhooks.deliveries.get(webhookId, deliveryId);
   * ```
   */
  get(webhookId: string, deliveryId: string, options?: CallOptions): Promise<t.DeliveryDetails> {
    return this._get(at`/webhooks/${webhookId}/deliveries/${deliveryId}`, undefined, options);
  }

  /**
   * Redeliver an event.
   *
   * Creates a new delivery of the same event, with up to three new attempts and the same event ID and body.
   * @example
   * ```ts
   * await mailmill.webhooks.deliveries.retry(webhookId, deliveryId);
   * ```
   */
  retry(webhookId: string, deliveryId: string, options?: CallOptions): Promise<t.DeliveryView> {
    return this._post(at`/webhooks/${webhookId}/deliveries/${deliveryId}/retry`, undefined, options, { keyed: true });
  }
}

export class Webhooks extends Resource<Mailmill> {
  /** @see {@link WebhooksDeliveries} */
  readonly deliveries = new WebhooksDeliveries(this._client);

  /**
   * List webhooks.
   *
   * Lists webhooks, oldest first.
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
   * Only this response shows the signing secret.
   * @example
   * ```ts
   * await mailmill.webhooks.create({ url: "https://acme.example/hooks", events: ["subscriber.added","subscriber.unsubscribed"] });
   * ```
   */
  create(params: t.WebhooksCreateParams, options?: CallOptions): Promise<t.WebhookWithSecret> {
    return this._post("/webhooks", params, options, { keyed: true });
  }

  /**
   * List event types.
   *
   * Lists all event types that a webhook can subscribe to.
   * @example
   * ```ts
   * await mailmill.webhooks.eventTypes();
   * ```
   */
  eventTypes(options?: CallOptions): Promise<t.EventTypes> {
    return this._get("/webhooks/events", undefined, options);
  }

  /**
   * Get delivery statistics.
   *
   * A delivery is counted as successful or failed when it ends.
   * @example
   * ```ts
   * await mailmill.webhooks.stats();
   * ```
   */
  stats(options?: CallOptions): Promise<t.StatsView> {
    return this._get("/webhooks/stats", undefined, options);
  }

  /**
   * Get a webhook.
   *
   * The response does not include the secret, which is returned only when the secret is created.
   * @example
   * ```ts
   * await mailmill.webhooks.get(webhookId);
   * ```
   */
  get(webhookId: string, options?: CallOptions): Promise<t.WebhookView> {
    return this._get(at`/webhooks/${webhookId}`, undefined, options);
  }

  /**
   * Change a webhook.
   *
   * If deliveries are paused, changing the URL or enabling a disabled webhook resumes them.
   * @example
   * ```ts
   * await mailmill.webhooks.update(webhookId);
   * ```
   */
  update(webhookId: string, params?: t.WebhooksUpdateParams, options?: CallOptions): Promise<t.UpdatedWebhook> {
    return this._patch(at`/webhooks/${webhookId}`, params, options);
  }

  /**
   * Delete a webhook.
   *
   * Also deletes the webhook's deliveries; pending ones are not delivered.
   * @example
   * ```ts
   * await mailmill.webhooks.delete(webhookId);
   * ```
   */
  delete(webhookId: string, options?: CallOptions): Promise<t.DeletedWebhook> {
    return this._delete(at`/webhooks/${webhookId}`, undefined, options);
  }

  /**
   * Send a test event.
   *
   * Makes one attempt, signed like any other attempt, with the header X-Service-Test and the type webhook.test.
   * @example
   * ```ts
   * await mailmill.webhooks.test(webhookId);
   * ```
   */
  test(webhookId: string, options?: CallOptions): Promise<t.WebhookTested> {
    return this._post(at`/webhooks/${webhookId}/test`, undefined, options);
  }

  /**
   * Rotate a webhook's secret.
   *
   * Only this response shows the new secret.
   * @example
   * ```ts
   * await mailmill.webhooks.rotateSecret(webhookId);
   * ```
   */
  rotateSecret(webhookId: string, params?: t.WebhooksRotateSecretParams, options?: CallOptions): Promise<t.WebhookWithSecret> {
    return this._post(at`/webhooks/${webhookId}/rotate-secret`, params, options, { keyed: true });
  }

  /**
   * Redeliver events from a time range.
   * @example
   * ```ts
   * await mailmill.webhooks.redeliver(webhookId, { from });
   * ```
   */
  redeliver(webhookId: string, params: t.WebhooksRedeliverParams, options?: CallOptions): Promise<t.RedeliveryView> {
    return this._post(at`/webhooks/${webhookId}/redeliver`, params, options, { keyed: true });
  }
}

/**
 * A client of the API.
 *
 * @example
 * ```ts
 * import { Mailmill } from "mailmill";
 *
 * const mailmill = new Mailmill(); // reads MAILMILL_KEY and MAILMILL_URL
 * for await (const project of mailmill.projects.list()) console.log(project.name);
 * ```
 */
export class Mailmill extends Client {
  /** @see {@link Projects} */
  readonly projects = new Projects(this);
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
  /** @see {@link Sends} */
  readonly sends = new Sends(this);
  /** @see {@link Metrics} */
  readonly metrics = new Metrics(this);
  /** @see {@link Plan} */
  readonly plan = new Plan(this);
  /** @see {@link Inbox} */
  readonly inbox = new Inbox(this);
  /** @see {@link Campaigns} */
  readonly campaigns = new Campaigns(this);
  /** @see {@link MailServices} */
  readonly mailServices = new MailServices(this);
  /** @see {@link IncomingWebhooks} */
  readonly incomingWebhooks = new IncomingWebhooks(this);
  /** @see {@link ScheduledImports} */
  readonly scheduledImports = new ScheduledImports(this);
  /** @see {@link Webhooks} */
  readonly webhooks = new Webhooks(this);
}
