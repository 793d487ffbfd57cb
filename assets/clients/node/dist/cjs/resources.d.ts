import { Client, Resource, type CallOptions, type WaitOptions } from "./core.js";
import type { List } from "./list.js";
import type * as t from "./types.js";
export declare class ProjectsImports extends Resource<Mailmill> {
 /**
  * Import a project from web pages.
  *
  * Returns immediately; the import runs in the background.
  * @example
  * ```ts
  * await mailmill.projects.imports.create({ urls: ["https://www.acme.example"] });
  * ```
  */
 create(params: t.ProjectsImportsCreateParams, options?: CallOptions): Promise<t.ImportAccepted>;
 /**
  * Get the state of an import.
  * @example
  * ```ts
  * await mailmill.projects.imports.get(projectId);
  * ```
  */
 get(projectId: string, options?: CallOptions): Promise<t.ImportView>;
 /**
  * Import a project's sites again.
  *
  * Use this operation after a failed import or after a site has changed.
  * @example
  * ```ts
  * await mailmill.projects.imports.retry(projectId);
  * ```
  */
 retry(projectId: string, options?: CallOptions): Promise<t.ImportRetryResult>;
 /**
  * List the changes found by a repeated import.
  *
  * Values with state `pending` are not used until they are accepted.
  * @example
  * ```ts
  * await mailmill.projects.imports.changes(projectId);
  * ```
  */
 changes(projectId: string, options?: CallOptions): Promise<t.ImportChangesView>;
 /**
  * Accept or reject the changes found by a repeated import.
  *
  * Returns the remaining changes.
  * @example
  * ```ts
  * await mailmill.projects.imports.decide(projectId);
  * ```
  */
 decide(projectId: string, params?: t.ProjectsImportsDecideParams, options?: CallOptions): Promise<t.ImportChangesView>;
}
export declare class ProjectsKnowledge extends Resource<Mailmill> {
 /**
  * List a project's knowledge base.
  *
  * Lists entries, newest first.
  * @example
  * ```ts
  * for await (const item of mailmill.projects.knowledge.list(projectId)) console.log(item);
  * ```
  */
 list(projectId: string, params?: t.ProjectsKnowledgeListParams, options?: CallOptions): List<t.ProjectsKnowledgeListPage, t.KnowledgeView>;
 /**
  * Add an entry to a project's knowledge base.
  *
  * Emails that are generated afterward can use the entry.
  * @example
  * ```ts
  * await mailmill.projects.knowledge.create(projectId, { title: "How we roast", content: "We roast twice a week, in small batches." });
  * ```
  */
 create(projectId: string, params: t.ProjectsKnowledgeCreateParams, options?: CallOptions): Promise<t.KnowledgeView>;
 /**
  * Get an entry in a project's knowledge base.
  * @example
  * ```ts
  * await mailmill.projects.knowledge.get(projectId, entryId);
  * ```
  */
 get(projectId: string, entryId: string, options?: CallOptions): Promise<t.KnowledgeView>;
 /**
  * Change an entry in a project's knowledge base.
  * @example
  * ```ts
  * await mailmill.projects.knowledge.update(projectId, entryId);
  * ```
  */
 update(projectId: string, entryId: string, params?: t.ProjectsKnowledgeUpdateParams, options?: CallOptions): Promise<t.KnowledgeView>;
 /**
  * Remove an entry from a project's knowledge base.
  *
  * An entry from the project's pages does not return when the sites are imported again.
  * @example
  * ```ts
  * await mailmill.projects.knowledge.delete(projectId, entryId);
  * ```
  */
 delete(projectId: string, entryId: string, options?: CallOptions): Promise<t.RemovalResult>;
}
export declare class ProjectsImages extends Resource<Mailmill> {
 /**
  * List a project's images.
  *
  * Images that users added come first, newest first.
  * @example
  * ```ts
  * for await (const item of mailmill.projects.images.list(projectId)) console.log(item);
  * ```
  */
 list(projectId: string, params?: t.ProjectsImagesListParams, options?: CallOptions): List<t.ProjectsImagesListPage, t.ProjectImageView>;
 /**
  * Add an image to a project.
  *
  * If the project already has an image with this URL, a new description and new tags replace the current ones.
  * @example
  * ```ts
  * await mailmill.projects.images.create(projectId, { url: "https://www.acme.example/images/roastery.jpg" });
  * ```
  */
 create(projectId: string, params: t.ProjectsImagesCreateParams, options?: CallOptions): Promise<t.ProjectImageView>;
 /**
  * Change an image's description and tags.
  * @example
  * ```ts
  * await mailmill.projects.images.update(projectId, { imageUrl: "https://www.acme.example/images/roastery.jpg" });
  * ```
  */
 update(projectId: string, params: t.ProjectsImagesUpdateParams, options?: CallOptions): Promise<t.ProjectImageView>;
 /**
  * Remove an image from a project.
  *
  * An uploaded file is kept for another year for the emails that contain it.
  * @example
  * ```ts
  * await mailmill.projects.images.delete(projectId, { imageUrl: "https://www.acme.example/images/roastery.jpg" });
  * ```
  */
 delete(projectId: string, params: t.ProjectsImagesDeleteParams, options?: CallOptions): Promise<t.RemovalResult>;
 /**
  * Upload an image to a project.
  *
  * Use this operation for images that are not on the web yet.
  * @example
  * ```ts
  * await mailmill.projects.images.upload(projectId, { file: "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7" });
  * ```
  */
 upload(projectId: string, params: t.ProjectsImagesUploadParams, options?: CallOptions): Promise<t.ProjectImageView>;
 /**
  * Get a small copy of a project's image.
  *
  * Returns a PNG or JPEG image of at most 480 pixels per side, or an SVG image unchanged.
  * @example
  * ```ts
  * await mailmill.projects.images.preview(projectId, { imageUrl: "https://www.acme.example/images/roastery.jpg" });
  * ```
  */
 preview(projectId: string, params: t.ProjectsImagesPreviewParams, options?: CallOptions): Promise<Uint8Array>;
}
export declare class ProjectsProducts extends Resource<Mailmill> {
 /**
  * List a project's products.
  *
  * Lists the products by position, including hidden products, which new emails leave out.
  * @example
  * ```ts
  * for await (const item of mailmill.projects.products.list(projectId)) console.log(item);
  * ```
  */
 list(projectId: string, params?: t.ProjectsProductsListParams, options?: CallOptions): List<t.ProjectsProductsListPage, t.ProductView>;
 /**
  * Add a product to a project.
  *
  * The product is added after the project's other products.
  * @example
  * ```ts
  * await mailmill.projects.products.create(projectId, { name: "Ember bowl" });
  * ```
  */
 create(projectId: string, params: t.ProjectsProductsCreateParams, options?: CallOptions): Promise<t.ProductView>;
 /**
  * Change a product.
  *
  * Values that you set take precedence over imported values, even after another import.
  * @example
  * ```ts
  * await mailmill.projects.products.update(projectId, productId);
  * ```
  */
 update(projectId: string, productId: string, params?: t.ProjectsProductsUpdateParams, options?: CallOptions): Promise<t.ProductView>;
 /**
  * Remove a product from a project.
  *
  * An imported product is hidden instead of deleted, so that the next import does not add it again.
  * @example
  * ```ts
  * await mailmill.projects.products.delete(projectId, productId);
  * ```
  */
 delete(projectId: string, productId: string, options?: CallOptions): Promise<t.RemovalResult>;
 /**
  * Merge products.
  *
  * The other products are deleted.
  * @example
  * ```ts
  * await mailmill.projects.products.merge(projectId, productId, { productIds });
  * ```
  */
 merge(projectId: string, productId: string, params: t.ProjectsProductsMergeParams, options?: CallOptions): Promise<t.ProductView>;
}
export declare class Projects extends Resource<Mailmill> {
 /** @see {@link ProjectsImports} */
 readonly imports: ProjectsImports;
 /** @see {@link ProjectsKnowledge} */
 readonly knowledge: ProjectsKnowledge;
 /** @see {@link ProjectsImages} */
 readonly images: ProjectsImages;
 /** @see {@link ProjectsProducts} */
 readonly products: ProjectsProducts;
 /**
  * List projects.
  *
  * Lists projects, newest first.
  * @example
  * ```ts
  * for await (const item of mailmill.projects.list()) console.log(item);
  * ```
  */
 list(params?: t.ProjectsListParams, options?: CallOptions): List<t.ProjectsListPage, t.ProjectView>;
 /**
  * Get a project.
  *
  * Includes `brand`, the values found on the project's sites or set by users, and `overrides`, the values set by users.
  * @example
  * ```ts
  * await mailmill.projects.get(projectId);
  * ```
  */
 get(projectId: string, options?: CallOptions): Promise<t.ProjectView>;
 /**
  * Correct a project's brand.
  *
  * Values that you set take precedence over values from the project's sites, even after another import.
  * @example
  * ```ts
  * await mailmill.projects.update(projectId);
  * ```
  */
 update(projectId: string, params?: t.ProjectsUpdateParams, options?: CallOptions): Promise<t.ProjectView>;
 /**
  * Set a project's logos.
  *
  * Logos that you set take precedence over logos found on the project's sites, even after the sites are imported again.
  * @example
  * ```ts
  * await mailmill.projects.updateLogos(projectId);
  * ```
  */
 updateLogos(projectId: string, params?: t.ProjectsUpdateLogosParams, options?: CallOptions): Promise<t.LogosUpdateResult>;
 /**
  * Set a project's brand guidelines.
  *
  * Language models follow the guidelines when they write emails for the project after the change.
  * @example
  * ```ts
  * await mailmill.projects.updateGuidelines(projectId);
  * ```
  */
 updateGuidelines(projectId: string, params?: t.ProjectsUpdateGuidelinesParams, options?: CallOptions): Promise<t.KeptGuidelines>;
 /**
  * List favorite emails.
  *
  * To use a favorite as a pattern, generate emails with the favorite's `conversationId` as `referenceId`.
  * @example
  * ```ts
  * await mailmill.projects.references(projectId);
  * ```
  */
 references(projectId: string, options?: CallOptions): Promise<t.ReferencesView>;
 /**
  * Show a sample email in a brand's theme.
  *
  * Colors, fonts and the corner radius in the query replace the brand's own values without saving them.
  * @example
  * ```ts
  * await mailmill.projects.previewTheme(projectId);
  * ```
  */
 previewTheme(projectId: string, params?: t.ProjectsPreviewThemeParams, options?: CallOptions): Promise<string>;
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
 importAndWait(params: t.ProjectsImportsCreateParams, options?: WaitOptions<t.ImportView>): Promise<t.ImportView>;
}
export declare class Domains extends Resource<Mailmill> {
 /**
  * List sending domains.
  *
  * Sorted by name.
  * @example
  * ```ts
  * for await (const item of mailmill.domains.list()) console.log(item);
  * ```
  */
 list(params?: t.DomainsListParams, options?: CallOptions): List<t.DomainView[], t.DomainView>;
 /**
  * Add a sending domain.
  *
  * Creates the domain's DKIM keys and returns the DNS records to add.
  * @example
  * ```ts
  * await mailmill.domains.create({ domain: "acme.example" });
  * ```
  */
 create(params: t.DomainsCreateParams, options?: CallOptions): Promise<t.DomainView>;
 /**
  * Add a sending subdomain for one kind of mail.
  *
  * Keeps the reputation of transactional emails separate from that of campaigns.
  * @example
  * ```ts
  * await mailmill.domains.createStream({ rootDomain: "acme.example", stream: "marketing" });
  * ```
  */
 createStream(params: t.DomainsCreateStreamParams, options?: CallOptions): Promise<t.DomainView>;
 /**
  * Add both sending subdomains of a root domain.
  *
  * Adds the subdomains send and notify of the root domain, like two calls of POST /v1/domains/streams.
  * @example
  * ```ts
  * await mailmill.domains.setup({ rootDomain: "acme.example" });
  * ```
  */
 setup(params: t.DomainsSetupParams, options?: CallOptions): Promise<t.SendingSubdomains>;
 /**
  * Get a sending domain.
  *
  * Includes the last result for each DNS record; POST /v1/domains/{domain}/verify checks the records now.
  * @example
  * ```ts
  * await mailmill.domains.get(domain);
  * ```
  */
 get(domain: string, options?: CallOptions): Promise<t.DomainView>;
 /**
  * Change the tracking of a sending domain.
  *
  * Applies to mail that is prepared after the change.
  * @example
  * ```ts
  * await mailmill.domains.update(domain);
  * ```
  */
 update(domain: string, params?: t.DomainsUpdateParams, options?: CallOptions): Promise<t.DomainView>;
 /**
  * Delete a sending domain.
  *
  * Also deletes the domain's DKIM keys; adding the domain again creates new keys.
  * @example
  * ```ts
  * await mailmill.domains.delete(domain);
  * ```
  */
 delete(domain: string, options?: CallOptions): Promise<t.DeletedDomain>;
 /**
  * Check a domain's DNS records now.
  *
  * A domain is verified once DNS has one of its DKIM records.
  * @example
  * ```ts
  * await mailmill.domains.verify(domain);
  * ```
  */
 verify(domain: string, options?: CallOptions): Promise<t.DomainVerification>;
 /**
  * Rotate a domain's DKIM keys.
  *
  * The current keys continue to sign until the records of the new keys are in DNS.
  * @example
  * ```ts
  * await mailmill.domains.rotate(domain);
  * ```
  */
 rotate(domain: string, options?: CallOptions): Promise<t.DomainView>;
}
export declare class EmailsEdits extends Resource<Mailmill> {
 /**
  * Edit an email with a prompt.
  *
  * Returns the changed email, and lists what was done and what was not.
  * @example
  * ```ts
  * await mailmill.emails.edits.create(emailId, { prompt: "Make the button green and shorten the intro" });
  * ```
  */
 create(emailId: string, params: t.EmailsEditsCreateParams, options?: CallOptions): Promise<t.EmailEditResult>;
 /**
  * Get the status of an edit.
  * @example
  * ```ts
  * await mailmill.emails.edits.get(emailId, editId);
  * ```
  */
 get(emailId: string, editId: string, options?: CallOptions): Promise<t.EditView>;
 /**
  * Save a previewed edit.
  *
  * Saves the email of the latest preview as a new version, without running the edit again.
  * @example
  * ```ts
  * await mailmill.emails.edits.save(emailId, editId);
  * ```
  */
 save(emailId: string, editId: string, params?: t.EmailsEditsSaveParams, options?: CallOptions): Promise<t.EmailView>;
}
export declare class EmailsVersions extends Resource<Mailmill> {
 /**
  * List the versions of an email.
  *
  * Lists the stored versions, newest first.
  * @example
  * ```ts
  * for await (const item of mailmill.emails.versions.list(emailId)) console.log(item);
  * ```
  */
 list(emailId: string, params?: t.EmailsVersionsListParams, options?: CallOptions): List<t.EmailsVersionsListPage, t.VersionView>;
 /**
  * Restore a version of an email.
  *
  * Creates a new version with the content of the selected version.
  * @example
  * ```ts
  * await mailmill.emails.versions.restore(emailId, version);
  * ```
  */
 restore(emailId: string, version: number, params?: t.EmailsVersionsRestoreParams, options?: CallOptions): Promise<t.EmailView>;
}
export declare class EmailsChecks extends Resource<Mailmill> {
 /**
  * Get the checks of an email.
  * @example
  * ```ts
  * await mailmill.emails.checks.get(emailId);
  * ```
  */
 get(emailId: string, params?: t.EmailsChecksGetParams, options?: CallOptions): Promise<t.EmailChecks>;
 /**
  * Check an email now.
  *
  * Checks the current version, requests the URLs of its links, and stores the result.
  * @example
  * ```ts
  * await mailmill.emails.checks.run(emailId);
  * ```
  */
 run(emailId: string, params?: t.EmailsChecksRunParams, options?: CallOptions): Promise<t.EmailChecks>;
 /**
  * Ignore a finding of an email.
  *
  * An ignored finding is no longer a warning, in this or later versions of the email or in its campaigns.
  * @example
  * ```ts
  * await mailmill.emails.checks.ignore(emailId, findingId, { ignored: true });
  * ```
  */
 ignore(emailId: string, findingId: string, params: t.EmailsChecksIgnoreParams, options?: CallOptions): Promise<t.EmailChecks>;
 /**
  * Fix a finding of an email.
  *
  * Applies the automatic fix of a `fixable` finding, and saves the result as a new version.
  * @example
  * ```ts
  * await mailmill.emails.checks.fix(emailId, findingId);
  * ```
  */
 fix(emailId: string, findingId: string, params?: t.EmailsChecksFixParams, options?: CallOptions): Promise<t.EmailView>;
}
export declare class EmailsDesigns extends Resource<Mailmill> {
 /**
  * List starter designs.
  *
  * A design is an email without facts about a brand.
  * @example
  * ```ts
  * await mailmill.emails.designs.list();
  * ```
  */
 list(options?: CallOptions): Promise<t.DesignList>;
 /**
  * Show a starter design as a page.
  *
  * Renders the design in the theme of the project's brand, in the same way as `POST /v1/emails`.
  * @example
  * ```ts
  * await mailmill.emails.designs.html(design, { projectId });
  * ```
  */
 html(design: "blank" | "welcome" | "welcome-offer" | "sale" | "flash-sale" | "launch" | "preorder" | "digest" | "note" | "event" | "webinar" | "reminder" | "order" | "delivery" | "apology" | "service" | "survey" | "review" | "win-back" | "cart" | "referral" | "season" | "gift-guide" | "milestone" | "price-change", params: t.EmailsDesignsHtmlParams, options?: CallOptions): Promise<string>;
}
export declare class Emails extends Resource<Mailmill> {
 /** @see {@link EmailsEdits} */
 readonly edits: EmailsEdits;
 /** @see {@link EmailsVersions} */
 readonly versions: EmailsVersions;
 /** @see {@link EmailsChecks} */
 readonly checks: EmailsChecks;
 /** @see {@link EmailsDesigns} */
 readonly designs: EmailsDesigns;
 /**
  * Read the brief from a prompt.
  *
  * Returns the facts, instructions and limits for an email based on the prompt.
  * @example
  * ```ts
  * await mailmill.emails.brief({ projectId, prompt: "20% off everything until 30 November with code LOFT20. Keep it short." });
  * ```
  */
 brief(params: t.EmailsBriefParams, options?: CallOptions): Promise<t.Brief>;
 /**
  * Add text to the brief of an email.
  *
  * Returns the brief.
  * @example
  * ```ts
  * await mailmill.emails.addToBrief(emailId, { text: "Only £15 until Sunday." });
  * ```
  */
 addToBrief(emailId: string, params: t.EmailsAddToBriefParams, options?: CallOptions): Promise<t.Brief>;
 /**
  * Generate emails.
  *
  * Returns immediately and generates the emails in the background.
  * @example
  * ```ts
  * await mailmill.emails.generate({ projectId });
  * ```
  */
 generate(params: t.EmailsGenerateParams, options?: CallOptions): Promise<t.AcceptedGeneration>;
 /**
  * Import emails as HTML.
  * @example
  * ```ts
  * await mailmill.emails.importHtml({ projectId });
  * ```
  */
 importHtml(params: t.EmailsImportHtmlParams, options?: CallOptions): Promise<t.AcceptedGeneration>;
 /**
  * Get the status of a generation.
  *
  * Poll every two seconds until `status` is `completed` or `failed`.
  * @example
  * ```ts
  * await mailmill.emails.status(conversationId);
  * ```
  */
 status(conversationId: string, params?: t.EmailsStatusParams, options?: CallOptions): Promise<t.GenerationStatus>;
 /**
  * List email conversations.
  *
  * Lists conversations, newest first.
  * @example
  * ```ts
  * for await (const item of mailmill.emails.list({ projectId })) console.log(item);
  * ```
  */
 list(params: t.EmailsListParams, options?: CallOptions): List<t.EmailsListPage, t.ConversationView>;
 /**
  * Get an email.
  * @example
  * ```ts
  * await mailmill.emails.get(emailId);
  * ```
  */
 get(emailId: string, params?: t.EmailsGetParams, options?: CallOptions): Promise<t.EmailDetails>;
 /**
  * Create an email from a design or a document.
  *
  * The email is ready immediately.
  * @example
  * ```ts
  * await mailmill.emails.create({ projectId });
  * ```
  */
 create(params: t.EmailsCreateParams, options?: CallOptions): Promise<t.EmailDetails>;
 /**
  * Edit the document of an email.
  *
  * Saves the changed document as a new version, and renders the HTML, MJML and text.
  * @example
  * ```ts
  * await mailmill.emails.updateDocument(emailId, { operations: [{"op":"set","path":"subject","value":"Welcome to Acme"},{"op":"set","path":"blocks.intro.text","value":"Hello, **we are glad** that you are here."},{"op":"insert","after":"intro","value":{"type":"divider"}},{"op":"move","id":"products","before":"intro"}] });
  * ```
  */
 updateDocument(emailId: string, params: t.EmailsUpdateDocumentParams, options?: CallOptions): Promise<t.EmailDetails>;
 /**
  * Mark or unmark an email as a favorite.
  * @example
  * ```ts
  * await mailmill.emails.favorite(emailId, { favorite: true });
  * ```
  */
 favorite(emailId: string, params: t.EmailsFavoriteParams, options?: CallOptions): Promise<t.FavoriteResult>;
 /**
  * Show an email as a page.
  *
  * Merge fields show their defaults or, without a default, their names.
  * @example
  * ```ts
  * await mailmill.emails.html(emailId);
  * ```
  */
 html(emailId: string, params?: t.EmailsHtmlParams, options?: CallOptions): Promise<string>;
 /**
  * Get the metrics of an email.
  *
  * Covers all campaigns, batches and direct sends of the email, including test sends.
  * @example
  * ```ts
  * await mailmill.emails.metrics(emailId);
  * ```
  */
 metrics(emailId: string, params?: t.EmailsMetricsParams, options?: CallOptions): Promise<t.EmailMetrics>;
 /**
  * List the recipients of an email.
  *
  * Covers all campaigns, batches and direct sends of the email, newest first.
  * @example
  * ```ts
  * for await (const item of mailmill.emails.logs(emailId)) console.log(item);
  * ```
  */
 logs(emailId: string, params?: t.EmailsLogsParams, options?: CallOptions): List<t.EmailLogPart, t.CampaignLog>;
 /**
  * Send an email.
  *
  * Returns once the send is on disk; delivery follows.
  * @example
  * ```ts
  * await mailmill.emails.send({ recipientType: "email", from: "hello@example.com" });
  * ```
  */
 send(params: t.EmailsSendParams, options?: CallOptions): Promise<t.SendAccepted>;
 /**
  * Send a test email.
  *
  * Emits the event email.test.sent.
  * @example
  * ```ts
  * await mailmill.emails.sendTest({ to: "ada@example.com" });
  * ```
  */
 sendTest(params: t.EmailsSendTestParams, options?: CallOptions): Promise<t.TestSendResult>;
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
 generateAndWait(params: t.EmailsGenerateParams, options?: WaitOptions<t.GenerationStatus>): Promise<t.CompletedGenerationStatus>;
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
 importHtmlAndWait(params: t.EmailsImportHtmlParams, options?: WaitOptions<t.GenerationStatus>): Promise<t.CompletedGenerationStatus>;
}
export declare class SavedBlocks extends Resource<Mailmill> {
 /**
  * List saved blocks.
  *
  * Lists saved blocks, newest first.
  * @example
  * ```ts
  * for await (const item of mailmill.savedBlocks.list(projectId)) console.log(item);
  * ```
  */
 list(projectId: string, params?: t.SavedBlocksListParams, options?: CallOptions): List<t.SavedBlocksListPage, t.SavedBlockView>;
 /**
  * Save a block for other emails.
  * @example
  * ```ts
  * await mailmill.savedBlocks.create(projectId, { name: "Opening hours", block: {"type":"text","text":"Open **Monday to Friday**"} });
  * ```
  */
 create(projectId: string, params: t.SavedBlocksCreateParams, options?: CallOptions): Promise<t.SavedBlockView>;
 /**
  * Rename a saved block.
  * @example
  * ```ts
  * await mailmill.savedBlocks.update(projectId, blockId, { name: "Hours" });
  * ```
  */
 update(projectId: string, blockId: string, params: t.SavedBlocksUpdateParams, options?: CallOptions): Promise<t.SavedBlockView>;
 /**
  * Delete a saved block.
  *
  * Emails that contain the block keep it.
  * @example
  * ```ts
  * await mailmill.savedBlocks.delete(projectId, blockId);
  * ```
  */
 delete(projectId: string, blockId: string, options?: CallOptions): Promise<t.DeletedBlock>;
}
export declare class Validation extends Resource<Mailmill> {
 /**
  * Check an email in email clients.
  *
  * Compares the HTML and CSS of the email with the support tables of caniemail.com.
  * @example
  * ```ts
  * await mailmill.validation.compatibility();
  * ```
  */
 compatibility(params?: t.ValidationCompatibilityParams, options?: CallOptions): Promise<t.CompatibilityReport>;
 /**
  * Check the links in an email.
  *
  * Requests the URLs of the email with HEAD and, if that fails, with GET for one byte.
  * @example
  * ```ts
  * await mailmill.validation.links();
  * ```
  */
 links(params?: t.ValidationLinksParams, options?: CallOptions): Promise<t.LinkAnalysis>;
 /**
  * Check the spelling of an email.
  * @example
  * ```ts
  * await mailmill.validation.spelling();
  * ```
  */
 spelling(params?: t.ValidationSpellingParams, options?: CallOptions): Promise<t.SpellingAnalysis>;
 /**
  * Predict the deliverability of an email.
  * @example
  * ```ts
  * await mailmill.validation.deliverability();
  * ```
  */
 deliverability(params?: t.ValidationDeliverabilityParams, options?: CallOptions): Promise<t.DeliverabilityAnalysis>;
 /**
  * Run all checks on an email.
  *
  * Runs the checks at the same time, each with its own time limit.
  * @example
  * ```ts
  * await mailmill.validation.all();
  * ```
  */
 all(params?: t.ValidationAllParams, options?: CallOptions): Promise<t.ValidationReport>;
}
export declare class PreviewsDevices extends Resource<Mailmill> {
 /**
  * Get one device of a preview.
  * @example
  * ```ts
  * await mailmill.previews.devices.get(previewId, deviceKey);
  * ```
  */
 get(previewId: string, deviceKey: string, options?: CallOptions): Promise<t.OneDeviceView>;
 /**
  * List the devices available for previews.
  * @example
  * ```ts
  * await mailmill.previews.devices.list();
  * ```
  */
 list(options?: CallOptions): Promise<t.SupportedDevices>;
}
export declare class Previews extends Resource<Mailmill> {
 /** @see {@link PreviewsDevices} */
 readonly devices: PreviewsDevices;
 /**
  * Preview an email on devices.
  *
  * Returns immediately; the devices are drawn in the background, within seconds.
  * @example
  * ```ts
  * await mailmill.previews.create();
  * ```
  */
 create(params?: t.PreviewsCreateParams, options?: CallOptions): Promise<t.PreviewView>;
 /**
  * Get a preview.
  * @example
  * ```ts
  * await mailmill.previews.get(previewId);
  * ```
  */
 get(previewId: string, options?: CallOptions): Promise<t.PreviewView>;
 /**
  * Get the status of a preview.
  * @example
  * ```ts
  * await mailmill.previews.status(previewId);
  * ```
  */
 status(previewId: string, options?: CallOptions): Promise<t.PreviewStatusView>;
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
 createAndWait(params: t.PreviewsCreateParams, options?: WaitOptions<t.PreviewView>): Promise<t.PreviewView>;
}
export declare class Exports extends Resource<Mailmill> {
 /**
  * Export emails as HTML.
  *
  * Creates one HTML file for each finished email in the conversation; with emailId, only for that email.
  * @example
  * ```ts
  * await mailmill.exports.html(conversationId);
  * ```
  */
 html(conversationId: string, params?: t.ExportsHtmlParams, options?: CallOptions): Promise<t.EmailExport>;
 /**
  * Export emails as MJML.
  *
  * Creates one MJML file for each finished email in the conversation; with emailId, only for that email.
  * @example
  * ```ts
  * await mailmill.exports.mjml(conversationId);
  * ```
  */
 mjml(conversationId: string, params?: t.ExportsMjmlParams, options?: CallOptions): Promise<t.EmailExport>;
 /**
  * Export emails as PNG.
  *
  * Creates one PNG image for each finished email in the conversation; with emailId, only for that email.
  * @example
  * ```ts
  * await mailmill.exports.png(conversationId);
  * ```
  */
 png(conversationId: string, params?: t.ExportsPngParams, options?: CallOptions): Promise<t.EmailExport>;
 /**
  * Export emails as PDF.
  *
  * Creates one PDF file for each finished email in the conversation; with emailId, only for that email.
  * @example
  * ```ts
  * await mailmill.exports.pdf(conversationId);
  * ```
  */
 pdf(conversationId: string, params?: t.ExportsPdfParams, options?: CallOptions): Promise<t.EmailExport>;
 /**
  * Export emails for Klaviyo.
  * @example
  * ```ts
  * await mailmill.exports.klaviyo(conversationId);
  * ```
  */
 klaviyo(conversationId: string, params?: t.ExportsKlaviyoParams, options?: CallOptions): Promise<t.EmailExport>;
 /**
  * Export emails for Mailchimp.
  * @example
  * ```ts
  * await mailmill.exports.mailchimp(conversationId);
  * ```
  */
 mailchimp(conversationId: string, params?: t.ExportsMailchimpParams, options?: CallOptions): Promise<t.EmailExport>;
 /**
  * Export emails for HubSpot.
  * @example
  * ```ts
  * await mailmill.exports.hubspot({ conversationId });
  * ```
  */
 hubspot(params: t.ExportsHubspotParams, options?: CallOptions): Promise<t.EmailExport>;
 /**
  * Get the status of an export.
  * @example
  * ```ts
  * await mailmill.exports.status(conversationId);
  * ```
  */
 status(conversationId: string, params?: t.ExportsStatusParams, options?: CallOptions): Promise<t.ExportStatusView>;
 /**
  * List export formats.
  * @example
  * ```ts
  * await mailmill.exports.formats();
  * ```
  */
 formats(options?: CallOptions): Promise<t.FormatsView>;
}
export declare class ContactsBulk extends Resource<Mailmill> {
 /**
  * Add or update many contacts.
  * @example
  * ```ts
  * await mailmill.contacts.bulk.create({ projectId, subscribers: [{"email":"ada@example.com","firstName":"Ada","tags":["newsletter"]},{"email":"grace@example.com","status":"subscribed"}] });
  * ```
  */
 create(params: t.ContactsBulkCreateParams, options?: CallOptions): Promise<t.BulkChangeResult>;
 /**
  * Get the progress of a bulk write.
  *
  * Returns finished jobs until 30 days after they end.
  * @example
  * ```ts
  * await mailmill.contacts.bulk.get(jobId);
  * ```
  */
 get(jobId: string, params?: t.ContactsBulkGetParams, options?: CallOptions): Promise<t.BulkProgress>;
}
export declare class ContactsBulkChanges extends Resource<Mailmill> {
 /**
  * Make the same change to many contacts.
  *
  * Emits subscriber.unsubscribed for each contact that is unsubscribed or deleted; other changes emit no event.
  * @example
  * ```ts
  * await mailmill.contacts.bulkChanges.create({ projectId });
  * ```
  */
 create(params: t.ContactsBulkChangesCreateParams, options?: CallOptions): Promise<t.BulkChangeDone>;
 /**
  * Get the progress of a bulk change.
  *
  * Returns finished jobs until 30 days after they end.
  * @example
  * ```ts
  * await mailmill.contacts.bulkChanges.get(jobId);
  * ```
  */
 get(jobId: string, params?: t.ContactsBulkChangesGetParams, options?: CallOptions): Promise<t.BulkChangeProgress>;
}
export declare class ContactsImports extends Resource<Mailmill> {
 /**
  * Import contacts from a CSV file.
  *
  * Accepts multipart/form-data.
  * @example
  * ```ts
  * await mailmill.contacts.imports.create(params);
  * ```
  */
 create(params: t.ContactsImportsCreateParams, options?: CallOptions): Promise<t.ImportStarted>;
 /**
  * Get the progress of an import.
  *
  * Returns finished imports until 30 days after they end.
  * @example
  * ```ts
  * await mailmill.contacts.imports.get(id);
  * ```
  */
 get(id: string, params?: t.ContactsImportsGetParams, options?: CallOptions): Promise<t.ImportProgress>;
 /**
  * List the row errors of an import.
  *
  * Lists errors in the order of the rows.
  * @example
  * ```ts
  * for await (const item of mailmill.contacts.imports.errors(id)) console.log(item);
  * ```
  */
 errors(id: string, params?: t.ContactsImportsErrorsParams, options?: CallOptions): List<t.ContactsImportsErrorsPage, t.ImportError>;
 /**
  * Preview a file before its import.
  *
  * Previews an import whose file was uploaded with `hold`.
  * @example
  * ```ts
  * await mailmill.contacts.imports.preview(id);
  * ```
  */
 preview(id: string, params?: t.ContactsImportsPreviewParams, options?: CallOptions): Promise<t.ImportPreviewed>;
 /**
  * Import an uploaded file.
  *
  * Starts an import whose file was uploaded with `hold`.
  * @example
  * ```ts
  * await mailmill.contacts.imports.start(id);
  * ```
  */
 start(id: string, params?: t.ContactsImportsStartParams, options?: CallOptions): Promise<t.ImportStarted>;
}
export declare class ContactsExports extends Resource<Mailmill> {
 /**
  * Export contacts to a CSV file.
  * @example
  * ```ts
  * await mailmill.contacts.exports.create({ projectId });
  * ```
  */
 create(params: t.ContactsExportsCreateParams, options?: CallOptions): Promise<t.ExportView>;
 /**
  * Get the progress of an export.
  *
  * Once the file has been written, the response contains downloadUrl for one hour.
  * @example
  * ```ts
  * await mailmill.contacts.exports.get(jobId, { projectId });
  * ```
  */
 get(jobId: string, params: t.ContactsExportsGetParams, options?: CallOptions): Promise<t.ExportView>;
}
export declare class ContactsJobs extends Resource<Mailmill> {
 /**
  * List the newest imports, exports and bulk changes.
  *
  * Lists jobs in any state.
  * @example
  * ```ts
  * await mailmill.contacts.jobs.list();
  * ```
  */
 list(params?: t.ContactsJobsListParams, options?: CallOptions): Promise<t.ContactJobs>;
 /**
  * Get the kind, project and status of a contacts job.
  *
  * Returns finished jobs until 30 days after they end.
  * @example
  * ```ts
  * await mailmill.contacts.jobs.get(id);
  * ```
  */
 get(id: string, options?: CallOptions): Promise<t.ContactJob>;
 /**
  * Acknowledge a failed import, export or bulk change.
  *
  * The job stays in the list but no longer needs attention.
  * @example
  * ```ts
  * await mailmill.contacts.jobs.markSeen(id);
  * ```
  */
 markSeen(id: string, params?: t.ContactsJobsMarkSeenParams, options?: CallOptions): Promise<t.ContactJob>;
}
export declare class Contacts extends Resource<Mailmill> {
 /** @see {@link ContactsBulk} */
 readonly bulk: ContactsBulk;
 /** @see {@link ContactsBulkChanges} */
 readonly bulkChanges: ContactsBulkChanges;
 /** @see {@link ContactsImports} */
 readonly imports: ContactsImports;
 /** @see {@link ContactsExports} */
 readonly exports: ContactsExports;
 /** @see {@link ContactsJobs} */
 readonly jobs: ContactsJobs;
 /**
  * List and search contacts.
  *
  * All filters must match.
  * @example
  * ```ts
  * for await (const item of mailmill.contacts.list({ projectId })) console.log(item);
  * ```
  */
 list(params: t.ContactsListParams, options?: CallOptions): List<t.ContactsListPage, t.ContactView>;
 /**
  * Add a contact.
  *
  * Emits subscriber.added.
  * @example
  * ```ts
  * await mailmill.contacts.create({ projectId, email: "ada@example.com" });
  * ```
  */
 create(params: t.ContactsCreateParams, options?: CallOptions): Promise<t.ContactView>;
 /**
  * Get a contact.
  * @example
  * ```ts
  * await mailmill.contacts.get(id, { projectId });
  * ```
  */
 get(id: string, params: t.ContactsGetParams, options?: CallOptions): Promise<t.ContactView>;
 /**
  * Change a contact.
  *
  * Emits subscriber.updated, and subscriber.unsubscribed when the status becomes unsubscribed.
  * @example
  * ```ts
  * await mailmill.contacts.update(id, { projectId });
  * ```
  */
 update(id: string, params: t.ContactsUpdateParams, options?: CallOptions): Promise<t.ContactView>;
 /**
  * Delete a contact.
  *
  * Emits subscriber.unsubscribed with action "deleted".
  * @example
  * ```ts
  * await mailmill.contacts.delete(id, { projectId });
  * ```
  */
 delete(id: string, params: t.ContactsDeleteParams, options?: CallOptions): Promise<t.DeletedContact>;
 /**
  * Get the project of a contact.
  * @example
  * ```ts
  * await mailmill.contacts.getProject(id);
  * ```
  */
 getProject(id: string, options?: CallOptions): Promise<t.OwningProject>;
 /**
  * List the contact fields.
  *
  * Examines at most the newest 50,000 contacts of the project, segment or tag.
  * @example
  * ```ts
  * await mailmill.contacts.fieldCatalog(projectId);
  * ```
  */
 fieldCatalog(projectId: string, params?: t.ContactsFieldCatalogParams, options?: CallOptions): Promise<t.FieldCatalog>;
 /**
  * Change a contact's status.
  *
  * Every change of the status is allowed; for example, this can resubscribe a contact who unsubscribed or bounced.
  * @example
  * ```ts
  * await mailmill.contacts.setStatus({ projectId, email: "ada@example.com", status: "unsubscribed" });
  * ```
  */
 setStatus(params: t.ContactsSetStatusParams, options?: CallOptions): Promise<t.StatusChangeResult>;
 /**
  * Unsubscribe a contact.
  *
  * Emits subscriber.unsubscribed with action "unsubscribed", or "tags_left" if only tags are removed.
  * @example
  * ```ts
  * await mailmill.contacts.unsubscribe({ email: "ada@example.com", projectId });
  * ```
  */
 unsubscribe(params: t.ContactsUnsubscribeParams, options?: CallOptions): Promise<t.StatusChangeResult>;
 /**
  * Delete contacts by email.
  *
  * Emits subscriber.unsubscribed with action "deleted" for each deleted contact.
  * @example
  * ```ts
  * await mailmill.contacts.bulkDelete({ projectId, emails: ["ada@example.com","unknown@example.com"] });
  * ```
  */
 bulkDelete(params: t.ContactsBulkDeleteParams, options?: CallOptions): Promise<t.DeletedContacts>;
 /**
  * List the events of a contact.
  *
  * Returns the contact's customer events, newest first by time of occurrence.
  * @example
  * ```ts
  * for await (const item of mailmill.contacts.events(id, { projectId })) console.log(item);
  * ```
  */
 events(id: string, params: t.ContactsEventsParams, options?: CallOptions): List<t.CustomerEventPart, t.CustomerEvent>;
 /**
  * List a contact's topic subscriptions.
  *
  * Returns every topic in the project, including inactive topics.
  * @example
  * ```ts
  * await mailmill.contacts.topics(id, { projectId });
  * ```
  */
 topics(id: string, params: t.ContactsTopicsParams, options?: CallOptions): Promise<t.TopicChoices>;
 /**
  * Export all data about a contact.
  * @example
  * ```ts
  * await mailmill.contacts.personalData(id, { projectId });
  * ```
  */
 personalData(id: string, params: t.ContactsPersonalDataParams, options?: CallOptions): Promise<t.PersonalData>;
 /**
  * Get the timeline of a contact.
  *
  * Lists, newest first: messages, bounces, complaints, unsubscribes, customer events, and opens and clicks by people.
  * @example
  * ```ts
  * for await (const item of mailmill.contacts.timeline(id, { projectId })) console.log(item);
  * ```
  */
 timeline(id: string, params: t.ContactsTimelineParams, options?: CallOptions): List<t.TimelinePart, t.TimelineEntry>;
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
 importAndWait(params: t.ContactsImportsCreateParams, options?: WaitOptions<t.ImportProgress>): Promise<t.ImportProgress>;
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
 exportAndWait(params: t.ContactsExportsCreateParams, options?: WaitOptions<t.ExportView>): Promise<t.CompletedExportView>;
}
export declare class Connections extends Resource<Mailmill> {
 /**
  * List connections to other platforms.
  *
  * Returns the connections with their status, without keys and tokens.
  * @example
  * ```ts
  * await mailmill.connections.list();
  * ```
  */
 list(params?: t.ConnectionsListParams, options?: CallOptions): Promise<t.ConnectionList>;
 /**
  * Remove a connection.
  *
  * Deletes the stored key or tokens.
  * @example
  * ```ts
  * await mailmill.connections.delete({ connectionId });
  * ```
  */
 delete(params: t.ConnectionsDeleteParams, options?: CallOptions): Promise<t.RemovedConnection>;
 /**
  * Connect an account on another platform.
  *
  * Tests the key with the platform before it is stored.
  * @example
  * ```ts
  * await mailmill.connections.create(provider, { apiKey: "pk_0123456789" });
  * ```
  */
 create(provider: t.ConnectionProvider, params: t.ConnectionsCreateParams, options?: CallOptions): Promise<t.ConnectionView>;
 /**
  * Start a sign-in to another platform.
  *
  * Returns the URL of the platform's page on which the signed-in user allows access (OAuth 2).
  * @example
  * ```ts
  * await mailmill.connections.authorize(provider);
  * ```
  */
 authorize(provider: t.ConnectionProvider, params?: t.ConnectionsAuthorizeParams, options?: CallOptions): Promise<t.SignInPage>;
 /**
  * Complete a sign-in to another platform.
  *
  * Connects the account that the user signed in to, or reconnects it, and resumes imports that are waiting for it.
  * @example
  * ```ts
  * await mailmill.connections.complete(provider, { code: "8f3d6c1e", state: "test.5d41402abc4b2a76" });
  * ```
  */
 complete(provider: t.ConnectionProvider, params: t.ConnectionsCompleteParams, options?: CallOptions): Promise<t.ConnectionView>;
 /**
  * List the import sources of a platform.
  *
  * Returns the lists, segments, tags and audiences of the connected account, with their sizes if the platform reports them.
  * @example
  * ```ts
  * await mailmill.connections.sources(provider, { projectId });
  * ```
  */
 sources(provider: t.ConnectionProvider, params: t.ConnectionsSourcesParams, options?: CallOptions): Promise<t.ImportSources>;
 /**
  * Preview an import from a platform.
  *
  * Reads up to 2,000 contacts from the sources, and returns their fields and what the import would change.
  * @example
  * ```ts
  * await mailmill.connections.previewImport({ provider: "platform_a", projectId, sources: [{"id":"Y6nRLr","type":"list","name":"Newsletter"}] });
  * ```
  */
 previewImport(params: t.ConnectionsPreviewImportParams, options?: CallOptions): Promise<t.ImportPreview>;
 /**
  * Import contacts from a platform.
  *
  * Returns once the import is stored; GET /v1/contacts/imports/{id} returns the progress.
  * @example
  * ```ts
  * await mailmill.connections.importContacts({ provider: "platform_a", projectId, sources: [{"id":"Y6nRLr","type":"list","name":"Newsletter"}] });
  * ```
  */
 importContacts(params: t.ConnectionsImportContactsParams, options?: CallOptions): Promise<t.ProviderImportStarted>;
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
 importAndWait(params: t.ConnectionsImportContactsParams, options?: WaitOptions<t.ImportProgress>): Promise<t.ImportProgress>;
}
export declare class Storefront extends Resource<Mailmill> {
 /**
  * Connect a store to a project.
  * @example
  * ```ts
  * await mailmill.storefront.connect({ projectId, storefrontStoreUrl: "https://acme.myshopify.com" });
  * ```
  */
 connect(params: t.StorefrontConnectParams, options?: CallOptions): Promise<t.StorefrontConnection>;
 /**
  * Start the installation of the app on a Shopify store.
  * @example
  * ```ts
  * await mailmill.storefront.authorize({ projectId, storefrontStoreUrl: "https://acme.myshopify.com" });
  * ```
  */
 authorize(params: t.StorefrontAuthorizeParams, options?: CallOptions): Promise<t.InstallPage>;
 /**
  * Complete the installation of the app on a Shopify store.
  * @example
  * ```ts
  * await mailmill.storefront.complete({ query: "code=0907a61c&hmac=700e2dad&shop=acme.myshopify.com&state=5d414" });
  * ```
  */
 complete(params: t.StorefrontCompleteParams, options?: CallOptions): Promise<t.StorefrontConnection>;
 /**
  * List connected stores.
  * @example
  * ```ts
  * await mailmill.storefront.list();
  * ```
  */
 list(params?: t.StorefrontListParams, options?: CallOptions): Promise<t.StoreList>;
 /**
  * Import a store again.
  *
  * Starts an import of the products, and of the customers unless they are excluded.
  * @example
  * ```ts
  * await mailmill.storefront.sync(serverId);
  * ```
  */
 sync(serverId: string, options?: CallOptions): Promise<t.ConnectedStore>;
 /**
  * Disconnect a store.
  *
  * Deletes the stored keys, and removes the webhooks at the store if it can be reached.
  * @example
  * ```ts
  * await mailmill.storefront.disconnect(serverId);
  * ```
  */
 disconnect(serverId: string, options?: CallOptions): Promise<t.DisconnectedStore>;
}
export declare class Events extends Resource<Mailmill> {
 /**
  * Record a customer event.
  *
  * The service stores the event with its contact for 90 days.
  * @example
  * ```ts
  * await mailmill.events.record({ projectId, name: "purchase.completed", identifiers: {"email":"ada@example.com","externalOrderId":"order-1001"} });
  * ```
  */
 record(params: t.EventsRecordParams, options?: CallOptions): Promise<t.RecordedEvent>;
 /**
  * Record up to 500 customer events.
  *
  * Events are processed in order, each like a single event.
  * @example
  * ```ts
  * await mailmill.events.recordBatch({ projectId, events: [{"name":"purchase.completed","identifiers":{"email":"ada@example.com","externalOrderId":"order-1001"},"properties":{"value":49.9,"currency":"EUR"},"dedupeKey":"order-1001:paid"},{"name":"cart.abandoned","identifiers":{"email":"grace@example"}}] });
  * ```
  */
 recordBatch(params: t.EventsRecordBatchParams, options?: CallOptions): Promise<t.RecordedEvents>;
 /**
  * List event names.
  *
  * Returns the event names that segments can filter by.
  * @example
  * ```ts
  * await mailmill.events.names(projectId);
  * ```
  */
 names(projectId: string, params?: t.EventsNamesParams, options?: CallOptions): Promise<t.EventNames>;
}
export declare class Tags extends Resource<Mailmill> {
 /**
  * List tags.
  *
  * Lists tags.
  * @example
  * ```ts
  * for await (const item of mailmill.tags.list({ projectId })) console.log(item);
  * ```
  */
 list(params: t.TagsListParams, options?: CallOptions): List<t.TagsListPage, t.TagView>;
 /**
  * Create a tag.
  *
  * Adding a new tag to a contact also creates the tag.
  * @example
  * ```ts
  * await mailmill.tags.create({ projectId, name: "newsletter" });
  * ```
  */
 create(params: t.TagsCreateParams, options?: CallOptions): Promise<t.TagView>;
 /**
  * Get a tag.
  * @example
  * ```ts
  * await mailmill.tags.get(id, { projectId });
  * ```
  */
 get(id: string, params: t.TagsGetParams, options?: CallOptions): Promise<t.TagView>;
 /**
  * Change a tag.
  *
  * Contacts keep a renamed tag, and searches find them by its new name.
  * @example
  * ```ts
  * await mailmill.tags.update(id, { projectId });
  * ```
  */
 update(id: string, params: t.TagsUpdateParams, options?: CallOptions): Promise<t.TagView>;
 /**
  * Delete a tag.
  *
  * The tag is removed from its contacts, which are kept.
  * @example
  * ```ts
  * await mailmill.tags.delete(id, { projectId });
  * ```
  */
 delete(id: string, params: t.TagsDeleteParams, options?: CallOptions): Promise<t.DeletedTag>;
}
export declare class Topics extends Resource<Mailmill> {
 /**
  * List topics.
  *
  * Topics are ordered by displayOrder, then by name.
  * @example
  * ```ts
  * for await (const item of mailmill.topics.list({ projectId })) console.log(item);
  * ```
  */
 list(params: t.TopicsListParams, options?: CallOptions): List<t.TopicsListPage, t.TopicView>;
 /**
  * Create a topic.
  *
  * Returns 409 if a topic in the project has this name; data.id is then the ID of that topic.
  * @example
  * ```ts
  * await mailmill.topics.create({ projectId, name: "Product updates" });
  * ```
  */
 create(params: t.TopicsCreateParams, options?: CallOptions): Promise<t.TopicView>;
 /**
  * Get a topic.
  * @example
  * ```ts
  * await mailmill.topics.get(id, { projectId });
  * ```
  */
 get(id: string, params: t.TopicsGetParams, options?: CallOptions): Promise<t.TopicView>;
 /**
  * Change a topic.
  *
  * A new default applies to contacts who have not made a choice.
  * @example
  * ```ts
  * await mailmill.topics.update(id, { projectId });
  * ```
  */
 update(id: string, params: t.TopicsUpdateParams, options?: CallOptions): Promise<t.TopicView>;
 /**
  * Delete a topic.
  *
  * Also deletes the contacts' choices for this topic.
  * @example
  * ```ts
  * await mailmill.topics.delete(id, { projectId });
  * ```
  */
 delete(id: string, params: t.TopicsDeleteParams, options?: CallOptions): Promise<t.DeletedTopic>;
 /**
  * Subscribe a contact to a topic.
  *
  * Stores the contact's explicit choice, which overrides the topic's default.
  * @example
  * ```ts
  * await mailmill.topics.subscribe(id, { subscriberId, projectId });
  * ```
  */
 subscribe(id: string, params: t.TopicsSubscribeParams, options?: CallOptions): Promise<t.ContactTopicChoice>;
 /**
  * Unsubscribe a contact from a topic.
  *
  * Stores the contact's explicit choice, which overrides the topic's default.
  * @example
  * ```ts
  * await mailmill.topics.unsubscribe(id, { subscriberId, projectId });
  * ```
  */
 unsubscribe(id: string, params: t.TopicsUnsubscribeParams, options?: CallOptions): Promise<t.ContactTopicChoice>;
}
export declare class Segments extends Resource<Mailmill> {
 /**
  * List segments.
  *
  * Lists segments, newest first.
  * @example
  * ```ts
  * for await (const item of mailmill.segments.list({ projectId })) console.log(item);
  * ```
  */
 list(params: t.SegmentsListParams, options?: CallOptions): List<t.SegmentsListPage, t.SegmentView>;
 /**
  * Create a segment.
  *
  * Returns 409 if a segment in the project has this name; data.id is then the ID of that segment.
  * @example
  * ```ts
  * await mailmill.segments.create({ projectId, name: "Paying readers" });
  * ```
  */
 create(params: t.SegmentsCreateParams, options?: CallOptions): Promise<t.SegmentView>;
 /**
  * Preview a filter without saving it.
  *
  * Returns the number of matching contacts and some of them.
  * @example
  * ```ts
  * await mailmill.segments.preview({ projectId });
  * ```
  */
 preview(params: t.SegmentsPreviewParams, options?: CallOptions): Promise<t.SegmentPreview>;
 /**
  * Get a segment.
  *
  * Includes the number of contacts that match the filter now, unless `count` is false.
  * @example
  * ```ts
  * await mailmill.segments.get(id, { projectId });
  * ```
  */
 get(id: string, params: t.SegmentsGetParams, options?: CallOptions): Promise<t.SegmentView>;
 /**
  * Change a segment.
  * @example
  * ```ts
  * await mailmill.segments.update(id, { projectId });
  * ```
  */
 update(id: string, params: t.SegmentsUpdateParams, options?: CallOptions): Promise<t.SegmentView>;
 /**
  * Delete a segment.
  *
  * The contacts that match the segment's filter are not changed.
  * @example
  * ```ts
  * await mailmill.segments.delete(id, { projectId });
  * ```
  */
 delete(id: string, params: t.SegmentsDeleteParams, options?: CallOptions): Promise<t.DeletedSegment>;
 /**
  * Get the project of a segment.
  * @example
  * ```ts
  * await mailmill.segments.getProject(id);
  * ```
  */
 getProject(id: string, options?: CallOptions): Promise<t.OwningProject>;
}
export declare class Suppressions extends Resource<Mailmill> {
 /**
  * List suppressed addresses.
  *
  * Lists the addresses suppressed in the whole account, newest first.
  * @example
  * ```ts
  * for await (const item of mailmill.suppressions.list()) console.log(item);
  * ```
  */
 list(params?: t.SuppressionsListParams, options?: CallOptions): List<t.SuppressionsListPage, t.SuppressionView>;
 /**
  * Suppress an address.
  *
  * Takes effect immediately for the whole account, including queued messages.
  * @example
  * ```ts
  * await mailmill.suppressions.create({ email: "ada@example.com" });
  * ```
  */
 create(params: t.SuppressionsCreateParams, options?: CallOptions): Promise<t.SuppressionView>;
 /**
  * Remove an address from the suppression list.
  *
  * Remove an address if the recipient wants email again or a mail server rejected the address by mistake.
  * @example
  * ```ts
  * await mailmill.suppressions.delete(email);
  * ```
  */
 delete(email: string, options?: CallOptions): Promise<t.DeletedSuppression>;
}
export declare class SendsBatches extends Resource<Mailmill> {
 /**
  * Get a batch.
  *
  * Returns the progress of a send to an audience: the number of recipients in each state.
  * @example
  * ```ts
  * await mailmill.sends.batches.get(batchId);
  * ```
  */
 get(batchId: string, options?: CallOptions): Promise<t.BatchView>;
 /**
  * Cancel a batch.
  *
  * Skips the remaining recipients.
  * @example
  * ```ts
  * await mailmill.sends.batches.cancel(batchId);
  * ```
  */
 cancel(batchId: string, options?: CallOptions): Promise<t.BatchView>;
 /**
  * Send again to recipients whose delivery is unknown.
  * @example
  * ```ts
  * await mailmill.sends.batches.resendUnknown(batchId);
  * ```
  */
 resendUnknown(batchId: string, options?: CallOptions): Promise<t.ResentBatch>;
}
export declare class Sends extends Resource<Mailmill> {
 /** @see {@link SendsBatches} */
 readonly batches: SendsBatches;
 /**
  * Get a direct send.
  *
  * Returns the status of each recipient.
  * @example
  * ```ts
  * await mailmill.sends.get(sendId);
  * ```
  */
 get(sendId: string, options?: CallOptions): Promise<t.SendView>;
}
export declare class Metrics extends Resource<Mailmill> {
 /**
  * Get sending totals.
  *
  * Returns the totals for the key's environment.
  * @example
  * ```ts
  * await mailmill.metrics.sending();
  * ```
  */
 sending(params?: t.MetricsSendingParams, options?: CallOptions): Promise<t.SendingMetrics>;
 /**
  * Get the usage and cost of language models.
  *
  * Returns the usage of the brands in the key's environment.
  * @example
  * ```ts
  * await mailmill.metrics.models();
  * ```
  */
 models(params?: t.MetricsModelsParams, options?: CallOptions): Promise<t.ModelMetrics>;
 /**
  * Get daily sending statistics.
  *
  * Returns the statistics of all campaigns, batches, direct sends and test sends of all brands in the key's environment.
  * @example
  * ```ts
  * await mailmill.metrics.timeline();
  * ```
  */
 timeline(params?: t.MetricsTimelineParams, options?: CallOptions): Promise<t.SendingTimeline>;
}
export declare class Plan extends Resource<Mailmill> {
 /**
  * Get the account's limits.
  *
  * Returns the limits in effect, and how much of each quota is used in the key's environment.
  * @example
  * ```ts
  * await mailmill.plan.get();
  * ```
  */
 get(options?: CallOptions): Promise<t.AccountPlan>;
}
export declare class Inbox extends Resource<Mailmill> {
 /**
  * List the built-in inbox.
  *
  * Lists the messages sent with test keys and, in development mode, with live keys, newest first.
  * @example
  * ```ts
  * for await (const item of mailmill.inbox.list()) console.log(item);
  * ```
  */
 list(params?: t.InboxListParams, options?: CallOptions): List<t.InboxListPage, t.MessageView>;
 /**
  * Get a message from the built-in inbox.
  * @example
  * ```ts
  * await mailmill.inbox.get(id);
  * ```
  */
 get(id: string, options?: CallOptions): Promise<t.WholeMessage>;
 /**
  * Delete a message from the built-in inbox.
  *
  * Deletes only the message; the record of its send is kept.
  * @example
  * ```ts
  * await mailmill.inbox.delete(id);
  * ```
  */
 delete(id: string, options?: CallOptions): Promise<t.DeletedMessage>;
 /**
  * Show a message from the built-in inbox as a page.
  *
  * The page runs no scripts, submits no forms, and loads images from other servers only if `images` is true.
  * @example
  * ```ts
  * await mailmill.inbox.html(id);
  * ```
  */
 html(id: string, params?: t.InboxHtmlParams, options?: CallOptions): Promise<string>;
 /**
  * Download a message from the built-in inbox.
  *
  * Returns the exact bytes that would have been sent, including signatures.
  * @example
  * ```ts
  * await mailmill.inbox.raw(id);
  * ```
  */
 raw(id: string, options?: CallOptions): Promise<Uint8Array>;
 /**
  * Take a screenshot of a message in the built-in inbox.
  *
  * Returns a PNG image of the whole message, 600 CSS pixels wide, with two image pixels per CSS pixel.
  * @example
  * ```ts
  * await mailmill.inbox.screenshot(id);
  * ```
  */
 screenshot(id: string, options?: CallOptions): Promise<Uint8Array>;
}
export declare class Campaigns extends Resource<Mailmill> {
 /**
  * Create a campaign from a generated email.
  *
  * The campaign is a draft until you send or schedule it.
  * @example
  * ```ts
  * await mailmill.campaigns.create({ projectId, name: "Winter teas", from: "news@acme.example", fromName: "Acme", recipientType: "segment" });
  * ```
  */
 create(params: t.CampaignsCreateParams, options?: CallOptions): Promise<t.CampaignView>;
 /**
  * List campaigns.
  *
  * Lists campaigns, newest first.
  * @example
  * ```ts
  * for await (const item of mailmill.campaigns.list({ projectId })) console.log(item);
  * ```
  */
 list(params: t.CampaignsListParams, options?: CallOptions): List<t.CampaignsListPage, t.CampaignView>;
 /**
  * List campaigns of all projects with their statistics.
  *
  * Lists campaigns, newest first.
  * @example
  * ```ts
  * for await (const item of mailmill.campaigns.overview()) console.log(item);
  * ```
  */
 overview(params?: t.CampaignsOverviewParams, options?: CallOptions): List<t.CampaignsOverview, t.CampaignLine>;
 /**
  * Get a campaign.
  * @example
  * ```ts
  * await mailmill.campaigns.get(id);
  * ```
  */
 get(id: string, params?: t.CampaignsGetParams, options?: CallOptions): Promise<t.CampaignView>;
 /**
  * Change a campaign that has not started.
  *
  * A scheduled campaign stays scheduled and must still be ready to start after the change.
  * @example
  * ```ts
  * await mailmill.campaigns.update(id);
  * ```
  */
 update(id: string, params?: t.CampaignsUpdateParams, options?: CallOptions): Promise<t.CampaignView>;
 /**
  * Delete a draft.
  *
  * Only campaigns with the status draft or pending_review can be deleted.
  * @example
  * ```ts
  * await mailmill.campaigns.delete(id);
  * ```
  */
 delete(id: string, params?: t.CampaignsDeleteParams, options?: CallOptions): Promise<t.DeletedCampaign>;
 /**
  * Duplicate a campaign as a draft.
  *
  * The copy has all settings of the original except its name and schedule.
  * @example
  * ```ts
  * await mailmill.campaigns.duplicate(id);
  * ```
  */
 duplicate(id: string, params?: t.CampaignsDuplicateParams, options?: CallOptions): Promise<t.CampaignView>;
 /**
  * Send a test email of a campaign.
  *
  * Sends the email as it would go out now.
  * @example
  * ```ts
  * await mailmill.campaigns.test(id, { emails: ["ada@acme.example"] });
  * ```
  */
 test(id: string, params: t.CampaignsTestParams, options?: CallOptions): Promise<t.TestSent>;
 /**
  * Preview the outcome of sending a campaign.
  *
  * Checks every recipient as sending does, but sends no email.
  * @example
  * ```ts
  * await mailmill.campaigns.dryRun(id);
  * ```
  */
 dryRun(id: string, params?: t.CampaignsDryRunParams, options?: CallOptions): Promise<t.CampaignDryRun>;
 /**
  * Send a campaign now.
  *
  * Returns as soon as the campaign is stored for sending; check the progress with GET /v1/campaigns/{id}.
  * @example
  * ```ts
  * await mailmill.campaigns.send(id);
  * ```
  */
 send(id: string, params?: t.CampaignsSendParams, options?: CallOptions): Promise<t.CampaignView>;
 /**
  * Schedule a campaign.
  *
  * At the start time, the campaign sends the current version of its email to the audience at that time.
  * @example
  * ```ts
  * await mailmill.campaigns.schedule(id, { scheduledAt });
  * ```
  */
 schedule(id: string, params: t.CampaignsScheduleParams, options?: CallOptions): Promise<t.CampaignView>;
 /**
  * Reschedule a campaign.
  *
  * Changes the start time of a campaign that is scheduled or pending review.
  * @example
  * ```ts
  * await mailmill.campaigns.reschedule(id, { scheduledAt });
  * ```
  */
 reschedule(id: string, params: t.CampaignsRescheduleParams, options?: CallOptions): Promise<t.CampaignView>;
 /**
  * Unschedule a campaign.
  *
  * The campaign becomes a draft again.
  * @example
  * ```ts
  * await mailmill.campaigns.unschedule(id);
  * ```
  */
 unschedule(id: string, params?: t.CampaignsUnscheduleParams, options?: CallOptions): Promise<t.CampaignView>;
 /**
  * Pause a campaign that is being sent.
  *
  * Nothing more is sent until you resume the campaign.
  * @example
  * ```ts
  * await mailmill.campaigns.pause(id);
  * ```
  */
 pause(id: string, params?: t.CampaignsPauseParams, options?: CallOptions): Promise<t.CampaignView>;
 /**
  * Resume a paused campaign.
  *
  * Sending continues with the remaining recipients.
  * @example
  * ```ts
  * await mailmill.campaigns.resume(id);
  * ```
  */
 resume(id: string, params?: t.CampaignsResumeParams, options?: CallOptions): Promise<t.CampaignView>;
 /**
  * Cancel a campaign.
  *
  * A scheduled campaign does not start.
  * @example
  * ```ts
  * await mailmill.campaigns.cancel(id);
  * ```
  */
 cancel(id: string, params?: t.CampaignsCancelParams, options?: CallOptions): Promise<t.CampaignView>;
 /**
  * Archive a campaign.
  *
  * Lists with archived=false no longer include the campaign.
  * @example
  * ```ts
  * await mailmill.campaigns.archive(id);
  * ```
  */
 archive(id: string, params?: t.CampaignsArchiveParams, options?: CallOptions): Promise<t.CampaignView>;
 /**
  * Unarchive a campaign.
  *
  * Returns 409 if the campaign is not archived.
  * @example
  * ```ts
  * await mailmill.campaigns.unarchive(id);
  * ```
  */
 unarchive(id: string, params?: t.CampaignsUnarchiveParams, options?: CallOptions): Promise<t.CampaignView>;
 /**
  * Get a campaign's statistics.
  * @example
  * ```ts
  * await mailmill.campaigns.stats(id);
  * ```
  */
 stats(id: string, params?: t.CampaignsStatsParams, options?: CallOptions): Promise<t.CampaignStats>;
 /**
  * Get a campaign's results per day and per link.
  *
  * The results exclude opens and clicks by bots.
  * @example
  * ```ts
  * await mailmill.campaigns.report(id);
  * ```
  */
 report(id: string, params?: t.CampaignsReportParams, options?: CallOptions): Promise<t.CampaignReport>;
 /**
  * List a campaign's recipients.
  *
  * Returns a row for each recipient; rows of skipped recipients include the reason.
  * @example
  * ```ts
  * for await (const item of mailmill.campaigns.logs(id)) console.log(item);
  * ```
  */
 logs(id: string, params?: t.CampaignsLogsParams, options?: CallOptions): List<t.LogPart, t.CampaignLog>;
 /**
  * Send again to recipients whose delivery is unknown.
  *
  * If the process or a connection fails during a handoff, it is uncertain whether a recipient has the message.
  * @example
  * ```ts
  * await mailmill.campaigns.resendUnknown(id);
  * ```
  */
 resendUnknown(id: string, params?: t.CampaignsResendUnknownParams, options?: CallOptions): Promise<t.CampaignResent>;
}
export declare class MailServices extends Resource<Mailmill> {
 /**
  * List mail services.
  *
  * Lists mail services, oldest first.
  * @example
  * ```ts
  * for await (const item of mailmill.mailServices.list()) console.log(item);
  * ```
  */
 list(params?: t.MailServicesListParams, options?: CallOptions): List<t.MailServicesListPage, t.MailFeedbackView>;
 /**
  * Add a mail service.
  *
  * Only this response shows the URL of the webhook.
  * @example
  * ```ts
  * await mailmill.mailServices.create({ service: "mailgun" });
  * ```
  */
 create(params: t.MailServicesCreateParams, options?: CallOptions): Promise<t.MailFeedbackWithUrl>;
 /**
  * Get a mail service.
  *
  * The response shows whether events arrive, and why the last request was rejected.
  * @example
  * ```ts
  * await mailmill.mailServices.get(mailServiceId);
  * ```
  */
 get(mailServiceId: string, options?: CallOptions): Promise<t.MailFeedbackView>;
 /**
  * Change a mail service.
  *
  * If the mail service shows the secret only after you enter the URL there, set the secret with this operation.
  * @example
  * ```ts
  * await mailmill.mailServices.update(mailServiceId);
  * ```
  */
 update(mailServiceId: string, params?: t.MailServicesUpdateParams, options?: CallOptions): Promise<t.MailFeedbackWithUrl>;
 /**
  * Delete a mail service.
  *
  * After the deletion, the URL of its webhook returns 404.
  * @example
  * ```ts
  * await mailmill.mailServices.delete(mailServiceId);
  * ```
  */
 delete(mailServiceId: string, options?: CallOptions): Promise<t.DeletedMailService>;
 /**
  * Test a mail service.
  *
  * Sends a sample hard bounce through the checks for real requests.
  * @example
  * ```ts
  * await mailmill.mailServices.test(mailServiceId);
  * ```
  */
 test(mailServiceId: string, options?: CallOptions): Promise<t.MailServiceTested>;
}
export declare class IncomingWebhooks extends Resource<Mailmill> {
 /**
  * List incoming webhooks.
  *
  * Lists incoming webhooks, oldest first.
  * @example
  * ```ts
  * for await (const item of mailmill.incomingWebhooks.list()) console.log(item);
  * ```
  */
 list(params?: t.IncomingWebhooksListParams, options?: CallOptions): List<t.IncomingWebhooksListPage, t.HookView>;
 /**
  * Create an incoming webhook.
  *
  * Only this response shows the URL.
  * @example
  * ```ts
  * await mailmill.incomingWebhooks.create({ projectId, name: "Newsletter form" });
  * ```
  */
 create(params: t.IncomingWebhooksCreateParams, options?: CallOptions): Promise<t.HookWithUrl>;
 /**
  * Get an incoming webhook.
  *
  * The response does not include the URL, which is returned only when the URL is created.
  * @example
  * ```ts
  * await mailmill.incomingWebhooks.get(hook);
  * ```
  */
 get(hook: string, options?: CallOptions): Promise<t.HookView>;
 /**
  * Change an incoming webhook.
  *
  * The changes apply to requests that arrive later.
  * @example
  * ```ts
  * await mailmill.incomingWebhooks.update(hook);
  * ```
  */
 update(hook: string, params?: t.IncomingWebhooksUpdateParams, options?: CallOptions): Promise<t.HookWithUrl>;
 /**
  * Delete an incoming webhook.
  *
  * After the deletion, its URL returns 404.
  * @example
  * ```ts
  * await mailmill.incomingWebhooks.delete(hook);
  * ```
  */
 delete(hook: string, options?: CallOptions): Promise<t.DeletedHook>;
 /**
  * List the requests of an incoming webhook.
  *
  * Lists the last 50 requests, newest first.
  * @example
  * ```ts
  * await mailmill.incomingWebhooks.deliveries(hook);
  * ```
  */
 deliveries(hook: string, options?: CallOptions): Promise<t.HookDeliveries>;
 /**
  * Test an incoming webhook.
  *
  * Returns the values that the mapping takes from a body, and whether they can be stored.
  * @example
  * ```ts
  * await mailmill.incomingWebhooks.test(hook, { body: {"data":{"email":"ada@example.com","first_name":"Ada"}} });
  * ```
  */
 test(hook: string, params: t.IncomingWebhooksTestParams, options?: CallOptions): Promise<t.HookTested>;
}
export declare class ScheduledImports extends Resource<Mailmill> {
 /**
  * List scheduled imports.
  *
  * Lists scheduled imports, oldest first.
  * @example
  * ```ts
  * for await (const item of mailmill.scheduledImports.list()) console.log(item);
  * ```
  */
 list(params?: t.ScheduledImportsListParams, options?: CallOptions): List<t.ScheduledImportsListPage, t.ScheduledImportView>;
 /**
  * Create a scheduled import.
  *
  * The first run starts immediately.
  * @example
  * ```ts
  * await mailmill.scheduledImports.create({ projectId, name: "Shop customers" });
  * ```
  */
 create(params: t.ScheduledImportsCreateParams, options?: CallOptions): Promise<t.ScheduledImportView>;
 /**
  * Get a scheduled import.
  *
  * Returns the schedule and the result of the last run.
  * @example
  * ```ts
  * await mailmill.scheduledImports.get(id);
  * ```
  */
 get(id: string, options?: CallOptions): Promise<t.ScheduledImportView>;
 /**
  * Change a scheduled import.
  *
  * After a change of the source or its mapping, the next run imports everything.
  * @example
  * ```ts
  * await mailmill.scheduledImports.update(id);
  * ```
  */
 update(id: string, params?: t.ScheduledImportsUpdateParams, options?: CallOptions): Promise<t.ScheduledImportView>;
 /**
  * Delete a scheduled import.
  *
  * Contacts and events that were already imported are kept.
  * @example
  * ```ts
  * await mailmill.scheduledImports.delete(id);
  * ```
  */
 delete(id: string, options?: CallOptions): Promise<t.DeletedScheduledImport>;
 /**
  * Run a scheduled import now.
  *
  * Ends a pause.
  * @example
  * ```ts
  * await mailmill.scheduledImports.run(id);
  * ```
  */
 run(id: string, options?: CallOptions): Promise<t.ScheduledImportView>;
}
export declare class WebhooksDeliveries extends Resource<Mailmill> {
 /**
  * List deliveries.
  *
  * Lists deliveries, newest first, with the record of every attempt.
  * @example
  * ```ts
  * for await (const item of mailmill.webhooks.deliveries.list(webhookId)) console.log(item);
  * ```
  */
 list(webhookId: string, params?: t.WebhooksDeliveriesListParams, options?: CallOptions): List<t.WebhooksDeliveriesListPage, t.DeliveryView>;
 /**
  * Get a delivery.
  *
  * Includes every attempt: its time, and the endpoint's response or the error.
  * @example
  * ```ts
  * await mailmill.webhooks.deliveries.get(webhookId, deliveryId);
  * ```
  */
 get(webhookId: string, deliveryId: string, options?: CallOptions): Promise<t.DeliveryDetails>;
 /**
  * Redeliver an event.
  *
  * Creates a new delivery of the same event, with up to three new attempts and the same event ID and body.
  * @example
  * ```ts
  * await mailmill.webhooks.deliveries.retry(webhookId, deliveryId);
  * ```
  */
 retry(webhookId: string, deliveryId: string, options?: CallOptions): Promise<t.DeliveryView>;
}
export declare class Webhooks extends Resource<Mailmill> {
 /** @see {@link WebhooksDeliveries} */
 readonly deliveries: WebhooksDeliveries;
 /**
  * List webhooks.
  *
  * Lists webhooks, oldest first.
  * @example
  * ```ts
  * for await (const item of mailmill.webhooks.list()) console.log(item);
  * ```
  */
 list(params?: t.WebhooksListParams, options?: CallOptions): List<t.WebhooksListPage, t.WebhookView>;
 /**
  * Create a webhook.
  *
  * Only this response shows the signing secret.
  * @example
  * ```ts
  * await mailmill.webhooks.create({ url: "https://acme.example/hooks", events: ["subscriber.added","subscriber.unsubscribed"] });
  * ```
  */
 create(params: t.WebhooksCreateParams, options?: CallOptions): Promise<t.WebhookWithSecret>;
 /**
  * List event types.
  *
  * Lists all event types that a webhook can subscribe to.
  * @example
  * ```ts
  * await mailmill.webhooks.eventTypes();
  * ```
  */
 eventTypes(options?: CallOptions): Promise<t.EventTypes>;
 /**
  * Get delivery statistics.
  *
  * A delivery is counted as successful or failed when it ends.
  * @example
  * ```ts
  * await mailmill.webhooks.stats();
  * ```
  */
 stats(options?: CallOptions): Promise<t.StatsView>;
 /**
  * Get a webhook.
  *
  * The response does not include the secret, which is returned only when the secret is created.
  * @example
  * ```ts
  * await mailmill.webhooks.get(webhookId);
  * ```
  */
 get(webhookId: string, options?: CallOptions): Promise<t.WebhookView>;
 /**
  * Change a webhook.
  *
  * If deliveries are paused, changing the URL or enabling a disabled webhook resumes them.
  * @example
  * ```ts
  * await mailmill.webhooks.update(webhookId);
  * ```
  */
 update(webhookId: string, params?: t.WebhooksUpdateParams, options?: CallOptions): Promise<t.UpdatedWebhook>;
 /**
  * Delete a webhook.
  *
  * Also deletes the webhook's deliveries; pending ones are not delivered.
  * @example
  * ```ts
  * await mailmill.webhooks.delete(webhookId);
  * ```
  */
 delete(webhookId: string, options?: CallOptions): Promise<t.DeletedWebhook>;
 /**
  * Send a test event.
  *
  * Makes one attempt, signed like any other attempt, with the header X-Service-Test and the type webhook.test.
  * @example
  * ```ts
  * await mailmill.webhooks.test(webhookId);
  * ```
  */
 test(webhookId: string, options?: CallOptions): Promise<t.WebhookTested>;
 /**
  * Rotate a webhook's secret.
  *
  * Only this response shows the new secret.
  * @example
  * ```ts
  * await mailmill.webhooks.rotateSecret(webhookId);
  * ```
  */
 rotateSecret(webhookId: string, params?: t.WebhooksRotateSecretParams, options?: CallOptions): Promise<t.WebhookWithSecret>;
 /**
  * Redeliver events from a time range.
  * @example
  * ```ts
  * await mailmill.webhooks.redeliver(webhookId, { from });
  * ```
  */
 redeliver(webhookId: string, params: t.WebhooksRedeliverParams, options?: CallOptions): Promise<t.RedeliveryView>;
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
export declare class Mailmill extends Client {
 /** @see {@link Projects} */
 readonly projects: Projects;
 /** @see {@link Domains} */
 readonly domains: Domains;
 /** @see {@link Emails} */
 readonly emails: Emails;
 /** @see {@link SavedBlocks} */
 readonly savedBlocks: SavedBlocks;
 /** @see {@link Validation} */
 readonly validation: Validation;
 /** @see {@link Previews} */
 readonly previews: Previews;
 /** @see {@link Exports} */
 readonly exports: Exports;
 /** @see {@link Contacts} */
 readonly contacts: Contacts;
 /** @see {@link Connections} */
 readonly connections: Connections;
 /** @see {@link Storefront} */
 readonly storefront: Storefront;
 /** @see {@link Events} */
 readonly events: Events;
 /** @see {@link Tags} */
 readonly tags: Tags;
 /** @see {@link Topics} */
 readonly topics: Topics;
 /** @see {@link Segments} */
 readonly segments: Segments;
 /** @see {@link Suppressions} */
 readonly suppressions: Suppressions;
 /** @see {@link Sends} */
 readonly sends: Sends;
 /** @see {@link Metrics} */
 readonly metrics: Metrics;
 /** @see {@link Plan} */
 readonly plan: Plan;
 /** @see {@link Inbox} */
 readonly inbox: Inbox;
 /** @see {@link Campaigns} */
 readonly campaigns: Campaigns;
 /** @see {@link MailServices} */
 readonly mailServices: MailServices;
 /** @see {@link IncomingWebhooks} */
 readonly incomingWebhooks: IncomingWebhooks;
 /** @see {@link ScheduledImports} */
 readonly scheduledImports: ScheduledImports;
 /** @see {@link Webhooks} */
 readonly webhooks: Webhooks;
}
