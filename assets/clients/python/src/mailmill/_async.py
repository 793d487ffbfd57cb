# Written by assets/clients/generator from the OpenAPI document. Change the operation's declaration instead.

from __future__ import annotations

import builtins as _b
import typing as _t

from . import types as t
from ._client import AsyncClient, AsyncList, AsyncResource, Job
from ._request import RETRIES, UNSET, AsyncUpload, CallOptions, Unset, Upload, path_part

if _t.TYPE_CHECKING:
    import collections.abc

    import httpx


class AsyncProjectsImports(AsyncResource):
    _client: AsyncMailmill

    def __init__(self, client: AsyncMailmill) -> None:
        super().__init__(client)

    async def create(
        self,
        *,
        urls: _b.list[str],
        name: str | None | Unset = UNSET,
        logo_urls: t.NewLogos | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.ImportAccepted:
        """Import a project from web pages.

        Returns immediately; the import runs in the background. Emits project.import.started.

        Args:
            urls: The brand's web pages, the home page first.
            name: The name of the brand. The default is the name on the website.
            logo_urls: The URLs of logos to use instead of logos that the import finds.
        """
        return _t.cast("t.ImportAccepted", await self._call(
            "POST",
            "/projects/import",
            {"urls": urls, "name": name, "logoUrls": logo_urls},
            request_options,
            keyed=True,
        ))

    async def get(self, project_id: str, *, request_options: CallOptions | None = None) -> t.ImportView:
        """Get the state of an import."""
        return _t.cast("t.ImportView", await self._call(
            "GET",
            f"/projects/import/{path_part(project_id)}/status",
            None,
            request_options,
        ))

    async def retry(
        self,
        project_id: str,
        *,
        request_options: CallOptions | None = None,
    ) -> t.ImportRetryResult:
        """Import a project's sites again.

        Use this operation after a failed import or after a site has changed. Values that users set are kept.
        Other changed values and products wait until a user accepts them: see `projects.import_changes`.
        Logos, images and the knowledge base are updated directly. An import that is running continues.
        """
        return _t.cast("t.ImportRetryResult", await self._call(
            "POST",
            f"/projects/import/{path_part(project_id)}/retry",
            None,
            request_options,
            keyed=True,
        ))

    async def changes(
        self,
        project_id: str,
        *,
        request_options: CallOptions | None = None,
    ) -> t.ImportChangesView:
        """List the changes found by a repeated import.

        Values with state `pending` are not used until they are accepted.
        """
        return _t.cast("t.ImportChangesView", await self._call(
            "GET",
            f"/projects/import/{path_part(project_id)}/changes",
            None,
            request_options,
        ))

    async def decide(
        self,
        project_id: str,
        *,
        accept: _b.list[str] | Unset = UNSET,
        keep: _b.list[str] | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.ImportChangesView:
        """Accept or reject the changes found by a repeated import.

        Returns the remaining changes. A rejected change is not proposed again by later imports.

        Args:
            accept: The IDs of the changes to accept.
            keep: The IDs of the changes to reject. The current values are then treated as set by a user.
        """
        return _t.cast("t.ImportChangesView", await self._call(
            "POST",
            f"/projects/import/{path_part(project_id)}/changes",
            {"accept": accept, "keep": keep},
            request_options,
        ))


class AsyncProjectsKnowledge(AsyncResource):
    _client: AsyncMailmill

    def __init__(self, client: AsyncMailmill) -> None:
        super().__init__(client)

    def list(
        self,
        project_id: str,
        *,
        limit: int | Unset = UNSET,
        offset: int | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> AsyncList[t.ProjectsKnowledgeListPage, t.KnowledgeView]:
        """List a project's knowledge base.

        Lists entries, newest first. Includes entries from the project's own pages, with the `referenceOrigin`
        `website`.

        Args:
            offset: The number of entries to skip.
        """
        return self._list(
            f"/projects/{path_part(project_id)}/knowledge-base",
            "entries",
            "offset",
            {"limit": limit, "offset": offset},
            request_options,
        )

    async def create(
        self,
        project_id: str,
        *,
        title: str,
        content: str,
        source_file_name: str | None | Unset = UNSET,
        reference_origin: _t.Literal["favorite", "upload", "manual", None] | Unset = UNSET,
        preview_html: str | None | Unset = UNSET,
        thumbnail_url: str | None | Unset = UNSET,
        screenshot_url: str | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.KnowledgeView:
        """Add an entry to a project's knowledge base.

        Emails that are generated afterward can use the entry. Adding the same title and content again returns
        the existing entry.

        Args:
            content: The content of the entry, as plain text or Markdown.
            source_file_name: The name of the file from which the entry was created.
            reference_origin: The origin of the entry. The default is `manual`.
            preview_html: An HTML preview of the entry. It is stored and returned unchanged.
        """
        return _t.cast("t.KnowledgeView", await self._call(
            "POST",
            f"/projects/{path_part(project_id)}/knowledge-base",
            {"title": title, "content": content, "sourceFileName": source_file_name, "referenceOrigin": reference_origin, "previewHtml": preview_html, "thumbnailUrl": thumbnail_url, "screenshotUrl": screenshot_url},
            request_options,
            keyed=True,
        ))

    async def get(
        self,
        project_id: str,
        entry_id: str,
        *,
        request_options: CallOptions | None = None,
    ) -> t.KnowledgeView:
        """Get an entry in a project's knowledge base."""
        return _t.cast("t.KnowledgeView", await self._call(
            "GET",
            f"/projects/{path_part(project_id)}/knowledge-base/{path_part(entry_id)}",
            None,
            request_options,
        ))

    async def update(
        self,
        project_id: str,
        entry_id: str,
        *,
        title: str | None | Unset = UNSET,
        content: str | None | Unset = UNSET,
        source_file_name: str | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.KnowledgeView:
        """Change an entry in a project's knowledge base.

        If you change an entry that was read from a site, the entry becomes your own: importing the site again
        does not replace it.

        Args:
            content: The content of the entry, as plain text or Markdown.
            source_file_name: The name of the file from which the entry was created; an empty string clears
                it.
        """
        return _t.cast("t.KnowledgeView", await self._call(
            "PUT",
            f"/projects/{path_part(project_id)}/knowledge-base/{path_part(entry_id)}",
            {"title": title, "content": content, "sourceFileName": source_file_name},
            request_options,
        ))

    async def delete(
        self,
        project_id: str,
        entry_id: str,
        *,
        request_options: CallOptions | None = None,
    ) -> t.RemovalResult:
        """Remove an entry from a project's knowledge base.

        An entry from the project's pages does not return when the sites are imported again.
        """
        return _t.cast("t.RemovalResult", await self._call(
            "DELETE",
            f"/projects/{path_part(project_id)}/knowledge-base/{path_part(entry_id)}",
            None,
            request_options,
        ))


class AsyncProjectsImages(AsyncResource):
    _client: AsyncMailmill

    def __init__(self, client: AsyncMailmill) -> None:
        super().__init__(client)

    def list(
        self,
        project_id: str,
        *,
        limit: int | Unset = UNSET,
        offset: int | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> AsyncList[t.ProjectsImagesListPage, t.ProjectImageView]:
        """List a project's images.

        Images that users added come first, newest first. After them come the images found on the project's
        pages.

        Args:
            offset: The number of images to skip.
        """
        return self._list(
            f"/projects/{path_part(project_id)}/images",
            "images",
            "offset",
            {"limit": limit, "offset": offset},
            request_options,
        )

    async def create(
        self,
        project_id: str,
        *,
        url: str,
        description: str | None | Unset = UNSET,
        tags: _b.list[str] | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.ProjectImageView:
        """Add an image to a project.

        If the project already has an image with this URL, a new description and new tags replace the current
        ones.

        Args:
            url: The URL of the image. The image file is not copied: it stays on its server.
            description: A description of what the image shows. If absent, it is filled in automatically.
            tags: Tags for finding the image. If absent, they are filled in automatically.
        """
        return _t.cast("t.ProjectImageView", await self._call(
            "POST",
            f"/projects/{path_part(project_id)}/images",
            {"url": url, "description": description, "tags": tags},
            request_options,
            keyed=True,
        ))

    async def update(
        self,
        project_id: str,
        *,
        image_url: str,
        description: str | None | Unset = UNSET,
        tags: _b.list[str] | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.ProjectImageView:
        """Change an image's description and tags.

        Args:
            image_url: The URL of the image.
            description: A description of what the image shows.
            tags: Tags for finding the image.
        """
        return _t.cast("t.ProjectImageView", await self._call(
            "PUT",
            f"/projects/{path_part(project_id)}/images",
            {"imageUrl": image_url, "description": description, "tags": tags},
            request_options,
        ))

    async def delete(
        self,
        project_id: str,
        *,
        image_url: str,
        request_options: CallOptions | None = None,
    ) -> t.RemovalResult:
        """Remove an image from a project.

        An uploaded file is kept for another year for the emails that contain it. An image from the site does
        not return when the site is imported again; to use the image again, add it by its URL.

        Args:
            image_url: The URL of the image to remove.
        """
        return _t.cast("t.RemovalResult", await self._call(
            "DELETE",
            f"/projects/{path_part(project_id)}/images",
            {"imageUrl": image_url},
            request_options,
        ))

    async def upload(
        self,
        project_id: str,
        *,
        file: Upload,
        description: str | None | Unset = UNSET,
        tags: _b.list[str] | None | Unset = UNSET,
        crop: t.ImageCrop | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.ProjectImageView:
        """Upload an image to a project.

        Use this operation for images that are not on the web yet. A GIF is stored unchanged; other files are
        stored upright, at most 1600 pixels wide, without camera metadata. Email clients load the file from
        the returned `url`. Uploading the same file again returns the same image. After an image is removed,
        its file is kept for a year for the emails that contain it.

        Args:
            file: The PNG, JPEG, WebP or GIF file as base64.
            description: A description of what the image shows. If absent, it is filled in automatically.
            tags: Tags for finding the image. If absent, they are filled in automatically.
            crop: The part of the image to keep. The default is the whole image. A GIF cannot be cropped.
        """
        return _t.cast("t.ProjectImageView", await self._call(
            "POST",
            f"/projects/{path_part(project_id)}/images/upload",
            {"file": file, "description": description, "tags": tags, "crop": crop},
            request_options,
            keyed=True,
            encoded="file",
        ))

    async def preview(
        self,
        project_id: str,
        *,
        image_url: str,
        request_options: CallOptions | None = None,
    ) -> bytes:
        """Get a small copy of a project's image.

        Returns a PNG or JPEG image of at most 480 pixels per side, or an SVG image unchanged. The image is
        fetched once from its server, then cached for two weeks.

        Args:
            image_url: The URL of one of the project's images, logos or product images.
        """
        return _t.cast("bytes", await self._call(
            "GET",
            f"/projects/{path_part(project_id)}/images/preview",
            {"imageUrl": image_url},
            request_options,
            answer="bytes",
        ))


class AsyncProjectsProducts(AsyncResource):
    _client: AsyncMailmill

    def __init__(self, client: AsyncMailmill) -> None:
        super().__init__(client)

    def list(
        self,
        project_id: str,
        *,
        limit: int | Unset = UNSET,
        offset: int | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> AsyncList[t.ProjectsProductsListPage, t.ProductView]:
        """List a project's products.

        Lists the products by position, including hidden products, which new emails leave out.

        Args:
            offset: The number of products to skip.
        """
        return self._list(
            f"/projects/{path_part(project_id)}/products",
            "products",
            "offset",
            {"limit": limit, "offset": offset},
            request_options,
        )

    async def create(
        self,
        project_id: str,
        *,
        name: str,
        url: str | None | Unset = UNSET,
        image: str | None | Unset = UNSET,
        description: str | None | Unset = UNSET,
        price: str | None | Unset = UNSET,
        price_before: str | None | Unset = UNSET,
        currency: str | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.ProductView:
        """Add a product to a project.

        The product is added after the project's other products. Imports do not change it unless they find a
        product with its URL or name.

        Args:
            url: The URL of the product's page.
            image: The URL of an image of the product.
            price: The current price in major units, such as `19.90`.
            price_before: The original price before a discount. Emails show it struck through. It must be
                higher than the price.
            currency: The currency as an ISO 4217 code.
        """
        return _t.cast("t.ProductView", await self._call(
            "POST",
            f"/projects/{path_part(project_id)}/products",
            {"name": name, "url": url, "image": image, "description": description, "price": price, "priceBefore": price_before, "currency": currency},
            request_options,
            keyed=True,
        ))

    async def update(
        self,
        project_id: str,
        product_id: str,
        *,
        name: str | None | Unset = UNSET,
        url: str | None | Unset = UNSET,
        image: str | None | Unset = UNSET,
        description: str | None | Unset = UNSET,
        price: str | None | Unset = UNSET,
        price_before: str | None | Unset = UNSET,
        currency: str | None | Unset = UNSET,
        hidden: bool | None | Unset = UNSET,
        position: int | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.ProductView:
        """Change a product.

        Values that you set take precedence over imported values, even after another import.

        Args:
            url: The URL of the product's page.
            image: The URL of an image of the product.
            price: The current price in major units, such as `19.90`.
            price_before: The original price before a discount. Emails show it struck through. It must be
                higher than the price.
            currency: The currency as an ISO 4217 code.
            hidden: Whether emails leave the product out.
            position: The new position among the project's products, starting at 0. The other products are
                renumbered.
        """
        return _t.cast("t.ProductView", await self._call(
            "PATCH",
            f"/projects/{path_part(project_id)}/products/{path_part(product_id)}",
            {"name": name, "url": url, "image": image, "description": description, "price": price, "priceBefore": price_before, "currency": currency, "hidden": hidden, "position": position},
            request_options,
        ))

    async def delete(
        self,
        project_id: str,
        product_id: str,
        *,
        request_options: CallOptions | None = None,
    ) -> t.RemovalResult:
        """Remove a product from a project.

        An imported product is hidden instead of deleted, so that the next import does not add it again.
        """
        return _t.cast("t.RemovalResult", await self._call(
            "DELETE",
            f"/projects/{path_part(project_id)}/products/{path_part(product_id)}",
            None,
            request_options,
        ))

    async def merge(
        self,
        project_id: str,
        product_id: str,
        *,
        product_ids: _b.list[str],
        request_options: CallOptions | None = None,
    ) -> t.ProductView:
        """Merge products.

        The other products are deleted. Imports then recognize their URLs and names as the product that stays.

        Args:
            product_id: The product that remains. Its values do not change.
            product_ids: The products to merge into `productId`.
        """
        return _t.cast("t.ProductView", await self._call(
            "POST",
            f"/projects/{path_part(project_id)}/products/{path_part(product_id)}/merge",
            {"productIds": product_ids},
            request_options,
            keyed=True,
        ))


class AsyncProjects(AsyncResource):
    _client: AsyncMailmill

    def __init__(self, client: AsyncMailmill) -> None:
        super().__init__(client)
        self.imports = AsyncProjectsImports(client)
        self.knowledge = AsyncProjectsKnowledge(client)
        self.images = AsyncProjectsImages(client)
        self.products = AsyncProjectsProducts(client)

    def list(
        self,
        *,
        limit: int | Unset = UNSET,
        offset: int | Unset = UNSET,
        status: t.ProjectStatus | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> AsyncList[t.ProjectsListPage, t.ProjectView]:
        """List projects.

        Lists projects, newest first. Use a project's ID as `projectId` in other operations. The fields
        `description`, `urls`, `logoUrls`, `palette` and `error` are included only with one of the permissions
        `email:read`, `project:write`, `audience:read` or `campaign:read`.

        Works with any permission.

        Args:
            offset: The number of projects to skip.
            status: If given, only projects with this import status are returned.
        """
        return self._list(
            "/projects",
            "projects",
            "offset",
            {"limit": limit, "offset": offset, "status": status},
            request_options,
        )

    async def get(self, project_id: str, *, request_options: CallOptions | None = None) -> t.ProjectView:
        """Get a project.

        Includes `brand`, the values found on the project's sites or set by users, and `overrides`, the values
        set by users. Any field of `brand` can be missing.
        """
        return _t.cast("t.ProjectView", await self._call(
            "GET",
            f"/projects/{path_part(project_id)}",
            None,
            request_options,
        ))

    async def update(
        self,
        project_id: str,
        *,
        name: str | None | Unset = UNSET,
        tagline: str | None | Unset = UNSET,
        description: str | None | Unset = UNSET,
        company: str | None | Unset = UNSET,
        address: str | None | Unset = UNSET,
        email: str | None | Unset = UNSET,
        phone: str | None | Unset = UNSET,
        social: _b.list[t.SocialProfile] | None | Unset = UNSET,
        voice: t.VoicePatch | Unset = UNSET,
        palette: t.PalettePatch | Unset = UNSET,
        fonts: t.FontsPatch | Unset = UNSET,
        corner_radius: int | None | Unset = UNSET,
        default_sender: t.NewSender | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.ProjectView:
        """Correct a project's brand.

        Values that you set take precedence over values from the project's sites, even after another import. A
        postal address also appears in existing emails without their own address; other values apply to emails
        written or rendered after the change.

        Args:
            name: The name of the brand in lists and emails. `null` restores the website's name.
            description: What the brand does, in one or two sentences.
            company: The company's legal name. It is shown in the footer of emails.
            address: The postal address. It is shown in the footer of emails. Line breaks become commas.
            email: The email address for questions from customers.
            social: The brand's profiles on social networks. They replace all imported profiles.
            corner_radius: The corner radius of buttons and cards, in pixels. With 20 or more, buttons have
                fully rounded ends.
            default_sender: The default sender of test sends and new campaigns. If it is not set, the
                project's first campaign sets it.
        """
        return _t.cast("t.ProjectView", await self._call(
            "PATCH",
            f"/projects/{path_part(project_id)}",
            {"name": name, "tagline": tagline, "description": description, "company": company, "address": address, "email": email, "phone": phone, "social": social, "voice": voice, "palette": palette, "fonts": fonts, "cornerRadius": corner_radius, "defaultSender": default_sender},
            request_options,
        ))

    async def update_logos(
        self,
        project_id: str,
        *,
        primary: str | None | Unset = UNSET,
        secondary: str | None | Unset = UNSET,
        favicon: str | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.LogosUpdateResult:
        """Set a project's logos.

        Logos that you set take precedence over logos found on the project's sites, even after the sites are
        imported again.

        Args:
            primary: The URL of the logo in the header of emails.
            secondary: The URL of a variant of the logo, for example for dark backgrounds.
            favicon: The URL of the small square icon.
        """
        return _t.cast("t.LogosUpdateResult", await self._call(
            "PUT",
            f"/projects/{path_part(project_id)}/logos",
            {"primary": primary, "secondary": secondary, "favicon": favicon},
            request_options,
        ))

    async def update_guidelines(
        self,
        project_id: str,
        *,
        design_rules: str | None | Unset = UNSET,
        image_style: str | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.KeptGuidelines:
        """Set a project's brand guidelines.

        Language models follow the guidelines when they write emails for the project after the change. The
        built-in composer does not use them.

        Args:
            design_rules: Rules for the design and the wording of emails.
            image_style: Rules for the style of images.
        """
        return _t.cast("t.KeptGuidelines", await self._call(
            "PUT",
            f"/projects/{path_part(project_id)}/brand-guidelines",
            {"designRules": design_rules, "imageStyle": image_style},
            request_options,
        ))

    async def references(
        self,
        project_id: str,
        *,
        request_options: CallOptions | None = None,
    ) -> t.ReferencesView:
        """List favorite emails.

        To use a favorite as a pattern, generate emails with the favorite's `conversationId` as `referenceId`.
        """
        return _t.cast("t.ReferencesView", await self._call(
            "GET",
            f"/projects/{path_part(project_id)}/references",
            None,
            request_options,
        ))

    async def preview_theme(
        self,
        project_id: str,
        *,
        background: str | Unset = UNSET,
        text: str | Unset = UNSET,
        primary: str | Unset = UNSET,
        accent: str | Unset = UNSET,
        button: str | Unset = UNSET,
        button_text: str | Unset = UNSET,
        heading: str | Unset = UNSET,
        body: str | Unset = UNSET,
        corner_radius: int | Unset = UNSET,
        images: bool | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> str:
        """Show a sample email in a brand's theme.

        Colors, fonts and the corner radius in the query replace the brand's own values without saving them.

        Args:
            heading: The name of the heading font.
            body: The name of the text font.
            images: Whether to load the logo through this service.
        """
        return _t.cast("str", await self._call(
            "GET",
            f"/projects/{path_part(project_id)}/theme-preview",
            {"background": background, "text": text, "primary": primary, "accent": accent, "button": button, "buttonText": button_text, "heading": heading, "body": body, "cornerRadius": corner_radius, "images": images},
            request_options,
            answer="text",
        ))

    async def import_and_wait(
        self,
        *,
        urls: _b.list[str],
        name: str | None | Unset = UNSET,
        logo_urls: t.NewLogos | None | Unset = UNSET,
        on_progress: collections.abc.Callable[[t.ImportView], object] | None = None,
        poll_interval: float = 2.0,
        wait_timeout: float = 600.0,
        request_options: CallOptions | None = None,
    ) -> t.ImportView:
        """Import a project from web pages, and wait until the job has ended.

        Args:
            urls: The brand's web pages, the home page first.
            name: The name of the brand. The default is the name on the website.
            logo_urls: The URLs of logos to use instead of logos that the import finds.
            on_progress: Receives each status that the job reports.
            poll_interval: The seconds between two requests for the status.
            wait_timeout: The seconds that the job may take. The job continues on the server after that.

        Raises:
            JobFailedError: The job failed.
        """
        job = Job(("active",), ("error",), (), on_progress, poll_interval, wait_timeout, request_options)
        started = await self._client.projects.imports.create(
            urls=urls,
            name=name,
            logo_urls=logo_urls,
            request_options=request_options,
        )
        return await self._wait(
            started,
            lambda started, options: self._client.projects.imports.get(started["projectId"], request_options=options),
            job,
        )


class AsyncDomains(AsyncResource):
    _client: AsyncMailmill

    def __init__(self, client: AsyncMailmill) -> None:
        super().__init__(client)

    def list(
        self,
        *,
        limit: int | Unset = UNSET,
        offset: int | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> AsyncList[_b.list[t.DomainView], t.DomainView]:
        """List sending domains.

        Sorted by name. Each DNS record has the result of its last check.

        Args:
            limit: The maximum number of domains to return. If absent, all domains are returned.
            offset: The number of domains to skip.
        """
        return self._list("/domains", None, "offset", {"limit": limit, "offset": offset}, request_options)

    async def create(
        self,
        *,
        domain: str,
        region: str | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.DomainView:
        """Add a sending domain.

        Creates the domain's DKIM keys and returns the DNS records to add. Mailmill checks the records
        automatically: for three days, and daily once the domain is verified. POST /v1/domains/{domain}/verify
        checks them immediately. You can send from the domain, and from its subdomains, once one DKIM record
        is found; the other records are recommended. An existing domain is returned unchanged.

        Args:
            domain: The domain name, such as `example.com`. International names are accepted.
            region: Accepted and ignored, because this installation sends the mail. The response contains
                `local`.
        """
        return _t.cast("t.DomainView", await self._call(
            "POST",
            "/domains",
            {"domain": domain, "region": region},
            request_options,
            keyed=True,
        ))

    async def create_stream(
        self,
        *,
        root_domain: str,
        stream: t.MailStream,
        vanity_root_from: bool | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.DomainView:
        """Add a sending subdomain for one kind of mail.

        Keeps the reputation of transactional emails separate from that of campaigns. With vanityRootFrom, the
        subdomain signs for From addresses at the root, which receivers accept unless the root's DMARC record
        has adkim=s. An existing subdomain is returned unchanged.

        Args:
            root_domain: The root domain, such as `example.com`.
            stream: The kind of mail: `transactional` creates `notify.<root>`, `marketing` creates
                `send.<root>`.
            vanity_root_from: Whether this subdomain signs for From addresses at the root domain itself.
        """
        return _t.cast("t.DomainView", await self._call(
            "POST",
            "/domains/streams",
            {"rootDomain": root_domain, "stream": stream, "vanityRootFrom": vanity_root_from},
            request_options,
            keyed=True,
        ))

    async def setup(
        self,
        *,
        root_domain: str,
        from_name: str | None | Unset = UNSET,
        project_id: str | None | Unset = UNSET,
        vanity_root_from: bool | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.SendingSubdomains:
        """Add both sending subdomains of a root domain.

        Adds the subdomains send and notify of the root domain, like two calls of POST /v1/domains/streams.
        Existing subdomains are returned unchanged.

        Args:
            root_domain: The root domain, such as `example.com`.
            from_name: The sender's name, stored with both subdomains.
            project_id: A project in the account. Domains belong to the account, so the API only checks that
                the project exists.
            vanity_root_from: Whether the subdomains sign for From addresses at the root domain itself.
        """
        return _t.cast("t.SendingSubdomains", await self._call(
            "POST",
            "/domains/setup",
            {"rootDomain": root_domain, "fromName": from_name, "projectId": project_id, "vanityRootFrom": vanity_root_from},
            request_options,
            keyed=True,
        ))

    async def get(self, domain: str, *, request_options: CallOptions | None = None) -> t.DomainView:
        """Get a sending domain.

        Includes the last result for each DNS record; POST /v1/domains/{domain}/verify checks the records now.

        Args:
            domain: The domain name, such as `example.com`.
        """
        return _t.cast("t.DomainView", await self._call(
            "GET",
            f"/domains/{path_part(domain)}",
            None,
            request_options,
        ))

    async def update(
        self,
        domain: str,
        *,
        open_tracking: bool | None | Unset = UNSET,
        click_tracking: bool | None | Unset = UNSET,
        branded_tracking: bool | None | Unset = UNSET,
        utm: t.UtmParametersInput | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.DomainView:
        """Change the tracking of a sending domain.

        Applies to mail that is prepared after the change. With brandedTracking, the certificate of the
        service, or of the reverse proxy in front of it, must also cover links.<domain>. Until the record of
        links.<domain> is found, links use this installation's own host.

        Args:
            domain: The domain name, such as `example.com`.
            open_tracking: Whether opens are tracked.
            click_tracking: Whether clicks are tracked.
            branded_tracking: Whether links use a host name inside the sending domain, which requires one more
                DNS record.
            utm: The default UTM parameters (`utm_source` and so on) for links in mail from this domain,
                unless a campaign or send sets different ones. `{}` sets the standard defaults; `null` removes
                the parameters.
        """
        return _t.cast("t.DomainView", await self._call(
            "PATCH",
            f"/domains/{path_part(domain)}",
            {"openTracking": open_tracking, "clickTracking": click_tracking, "brandedTracking": branded_tracking, "utm": utm},
            request_options,
        ))

    async def delete(self, domain: str, *, request_options: CallOptions | None = None) -> t.DeletedDomain:
        """Delete a sending domain.

        Also deletes the domain's DKIM keys; adding the domain again creates new keys. Afterward, live emails
        from the domain are rejected unless another verified domain signs for them, or the server's settings
        allow unverified domains. Test emails can still be sent.

        Args:
            domain: The domain name, such as `example.com`.
        """
        return _t.cast("t.DeletedDomain", await self._call(
            "DELETE",
            f"/domains/{path_part(domain)}",
            None,
            request_options,
        ))

    async def verify(
        self,
        domain: str,
        *,
        request_options: CallOptions | None = None,
    ) -> t.DomainVerification:
        """Check a domain's DNS records now.

        A domain is verified once DNS has one of its DKIM records. A record whose lookup fails gets the status
        `unreachable`, which does not affect verification. For a failed domain that was never verified, a call
        restarts the three-day verification window.

        Args:
            domain: The domain name, such as `example.com`.
        """
        return _t.cast("t.DomainVerification", await self._call(
            "POST",
            f"/domains/{path_part(domain)}/verify",
            None,
            request_options,
        ))

    async def rotate(self, domain: str, *, request_options: CallOptions | None = None) -> t.DomainView:
        """Rotate a domain's DKIM keys.

        The current keys continue to sign until the records of the new keys are in DNS. Then keep the old
        records for another seven days (removeAfter), because mail signed with the old keys may still be in
        transit. Until the records of the new keys are found, repeated calls create no additional keys.

        Args:
            domain: The domain name, such as `example.com`.
        """
        return _t.cast("t.DomainView", await self._call(
            "POST",
            f"/domains/{path_part(domain)}/rotate",
            None,
            request_options,
            keyed=True,
        ))


class AsyncEmailsEdits(AsyncResource):
    _client: AsyncMailmill

    def __init__(self, client: AsyncMailmill) -> None:
        super().__init__(client)

    async def create(
        self,
        email_id: str,
        *,
        prompt: str,
        project_id: str | None | Unset = UNSET,
        model: str | None | Unset = UNSET,
        label: str | None | Unset = UNSET,
        async_: bool | Unset = UNSET,
        preview: bool | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.EmailEditResult:
        """Edit an email with a prompt.

        Returns the changed email, and lists what was done and what was not. With `async`, or after 20
        seconds, it returns the edit instead; poll the edit with GET /v1/emails/{emailId}/edits/{editId}. With
        `preview`, it returns the changed email without saving it, and a `previewId` with which you can save
        the change. Earlier versions can be restored. A prompt that is not understood changes nothing.

        Args:
            prompt: The change to make, in plain words, such as "make the button green and shorten the intro".
            project_id: If given, the email must belong to the project with this ID.
            model: The model that makes the change: `composer`, or the name of a language model in the
                settings. If absent, the model that was requested for the email's generation is used; if that
                model is no longer configured, the default model is used.
            label: A name for the new version.
            async_: Whether to respond immediately with the unfinished edit, whose status can be polled,
                instead of waiting for the edited email.
            preview: Whether to return the changed email without saving it. A preview ignores `async` and
                `label`, and can be saved with its `previewId`.
        """
        return _t.cast("t.EmailEditResult", await self._call(
            "POST",
            f"/emails/{path_part(email_id)}/edit",
            {"prompt": prompt, "projectId": project_id, "model": model, "label": label, "async": async_, "preview": preview},
            request_options,
            keyed=True,
        ))

    async def get(
        self,
        email_id: str,
        edit_id: str,
        *,
        request_options: CallOptions | None = None,
    ) -> t.EditView:
        """Get the status of an edit."""
        return _t.cast("t.EditView", await self._call(
            "GET",
            f"/emails/{path_part(email_id)}/edits/{path_part(edit_id)}",
            None,
            request_options,
        ))

    async def save(
        self,
        email_id: str,
        edit_id: str,
        *,
        label: str | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.EmailView:
        """Save a previewed edit.

        Saves the email of the latest preview as a new version, without running the edit again. If the email
        has changed since the preview, the response is 409 and nothing is saved.

        Args:
            edit_id: The `previewId` of the preview.
            label: A name for the new version.
        """
        return _t.cast("t.EmailView", await self._call(
            "POST",
            f"/emails/{path_part(email_id)}/edits/{path_part(edit_id)}/save",
            {"label": label},
            request_options,
            keyed=True,
        ))


class AsyncEmailsVersions(AsyncResource):
    _client: AsyncMailmill

    def __init__(self, client: AsyncMailmill) -> None:
        super().__init__(client)

    def list(
        self,
        email_id: str,
        *,
        project_id: str | Unset = UNSET,
        limit: int | Unset = UNSET,
        offset: int | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> AsyncList[t.EmailsVersionsListPage, t.VersionView]:
        """List the versions of an email.

        Lists the stored versions, newest first. Each saved edit creates a version. An autosave can replace
        the previous autosave. Restore a version with POST /v1/emails/{emailId}/versions/{version}/restore.

        Args:
            project_id: If given, the email must belong to the project with this ID.
            offset: The number of versions to skip.
        """
        return self._list(
            f"/emails/{path_part(email_id)}/versions",
            "versions",
            "offset",
            {"projectId": project_id, "limit": limit, "offset": offset},
            request_options,
        )

    async def restore(
        self,
        email_id: str,
        version: int,
        *,
        project_id: str | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.EmailView:
        """Restore a version of an email.

        Creates a new version with the content of the selected version. The other versions do not change.
        Restoring the current version has no effect.

        Args:
            project_id: If given, the email must belong to the project with this ID.
        """
        return _t.cast("t.EmailView", await self._call(
            "POST",
            f"/emails/{path_part(email_id)}/versions/{path_part(version)}/restore",
            {"projectId": project_id},
            request_options,
            keyed=True,
        ))


class AsyncEmailsChecks(AsyncResource):
    _client: AsyncMailmill

    def __init__(self, client: AsyncMailmill) -> None:
        super().__init__(client)

    async def get(
        self,
        email_id: str,
        *,
        project_id: str | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.EmailChecks:
        """Get the checks of an email.

        New versions of an email are checked in the background: email clients, links, spelling, deliverability
        and accessibility. The result is stored with the version.

        Args:
            project_id: If given, the email must belong to the project with this ID.
        """
        return _t.cast("t.EmailChecks", await self._call(
            "GET",
            f"/emails/{path_part(email_id)}/checks",
            {"projectId": project_id},
            request_options,
        ))

    async def run(
        self,
        email_id: str,
        *,
        project_id: str | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.EmailChecks:
        """Check an email now.

        Checks the current version, requests the URLs of its links, and stores the result. This takes up to 15
        seconds. Use this operation before you send an email that was checked long ago: links can break at any
        time.

        Args:
            project_id: If given, the email must belong to the project with this ID.
        """
        return _t.cast("t.EmailChecks", await self._call(
            "POST",
            f"/emails/{path_part(email_id)}/checks",
            {"projectId": project_id},
            request_options,
            keyed=True,
        ))

    async def ignore(
        self,
        email_id: str,
        finding_id: str,
        *,
        ignored: bool,
        project_id: str | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.EmailChecks:
        """Ignore a finding of an email.

        An ignored finding is no longer a warning, in this or later versions of the email or in its campaigns.
        The scores still count it, so that ignoring a finding does not bypass the minimum score of a campaign.
        If `ignored` is false, the finding is a warning again.

        Args:
            finding_id: The ID of the finding in GET /v1/emails/{emailId}/checks.
            project_id: If given, the email must belong to the project with this ID.
        """
        return _t.cast("t.EmailChecks", await self._call(
            "PUT",
            f"/emails/{path_part(email_id)}/checks/{path_part(finding_id)}/ignored",
            {"ignored": ignored, "projectId": project_id},
            request_options,
        ))

    async def fix(
        self,
        email_id: str,
        finding_id: str,
        *,
        project_id: str | None | Unset = UNSET,
        version: int | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.EmailView:
        """Fix a finding of an email.

        Applies the automatic fix of a `fixable` finding, and saves the result as a new version. The new
        version is checked in the background.

        Args:
            finding_id: The ID of the finding in GET /v1/emails/{emailId}/checks.
            project_id: If given, the email must belong to the project with this ID.
            version: The version that the finding concerns. If it is not the current version, the response is
                409 and nothing is saved.
        """
        return _t.cast("t.EmailView", await self._call(
            "POST",
            f"/emails/{path_part(email_id)}/checks/{path_part(finding_id)}/fix",
            {"projectId": project_id, "version": version},
            request_options,
            keyed=True,
        ))


class AsyncEmailsDesigns(AsyncResource):
    _client: AsyncMailmill

    def __init__(self, client: AsyncMailmill) -> None:
        super().__init__(client)

    async def list(self, *, request_options: CallOptions | None = None) -> t.DesignList:
        """List starter designs.

        A design is an email without facts about a brand. Text that users must replace is in brackets. The
        design uses the brand's colors, fonts, images and products.
        """
        return _t.cast("t.DesignList", await self._call("GET", "/emails/designs", None, request_options))

    async def html(
        self,
        design: _t.Literal["blank", "welcome", "welcome-offer", "sale", "flash-sale", "launch", "preorder", "digest", "note", "event", "webinar", "reminder", "order", "delivery", "apology", "service", "survey", "review", "win-back", "cart", "referral", "season", "gift-guide", "milestone", "price-change"],
        *,
        project_id: str,
        images: bool | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> str:
        """Show a starter design as a page.

        Renders the design in the theme of the project's brand, in the same way as `POST /v1/emails`.

        Args:
            design: The name of the design.
            images: Whether to load remote images through this service. If false or absent, only images that
                this service stores are shown.
        """
        return _t.cast("str", await self._call(
            "GET",
            f"/emails/designs/{path_part(design)}/html",
            {"projectId": project_id, "images": images},
            request_options,
            answer="text",
        ))


class AsyncEmails(AsyncResource):
    _client: AsyncMailmill

    def __init__(self, client: AsyncMailmill) -> None:
        super().__init__(client)
        self.edits = AsyncEmailsEdits(client)
        self.versions = AsyncEmailsVersions(client)
        self.checks = AsyncEmailsChecks(client)
        self.designs = AsyncEmailsDesigns(client)

    async def brief(
        self,
        *,
        project_id: str,
        prompt: str,
        languages: _b.list[str] | Unset = UNSET,
        model: str | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.Brief:
        """Read the brief from a prompt.

        Returns the facts, instructions and limits for an email based on the prompt. Writes no email and
        stores nothing except the usage of the language model, which must respond within 20 seconds. The
        positions in spans count Unicode code points from 0.

        Args:
            project_id: The project of the brand that sends the email. The brand's products are recognized in
                the prompt.
            prompt: A description of the email: its purpose, and every fact that it must contain.
            languages: The languages of the email as BCP 47 tags. The original is written in the first
                language. The default is the language of the prompt.
            model: The model that reads the prompt: the name of a language model in the settings, or
                `composer` for the rules of the built-in composer. If absent, the default model is used.
        """
        return _t.cast("t.Brief", await self._call(
            "POST",
            "/projects/emails/brief",
            {"projectId": project_id, "prompt": prompt, "languages": languages, "model": model},
            request_options,
        ))

    async def add_to_brief(
        self,
        email_id: str,
        *,
        text: str,
        request_options: CallOptions | None = None,
    ) -> t.Brief:
        """Add text to the brief of an email.

        Returns the brief. Values in the added text are no longer reported as missing from the brief. The
        emails in a series and the languages of an email share a brief.

        Args:
            text: The text to add: the `accept` value of a warning, or other text that the email must contain
                from now on, such as its subject, its preheader, a URL that it links to, or a sentence.
        """
        return _t.cast("t.Brief", await self._call(
            "POST",
            f"/emails/{path_part(email_id)}/brief",
            {"text": text},
            request_options,
        ))

    async def generate(
        self,
        *,
        project_id: str,
        prompt: str | None | Unset = UNSET,
        brief: t.BriefInput | None | Unset = UNSET,
        images: _b.list[t.GivenImage] | Unset = UNSET,
        model: str | None | Unset = UNSET,
        web_mode: bool | None | Unset = UNSET,
        languages: _b.list[str] | Unset = UNSET,
        visibility: t.EmailVisibility | Unset = UNSET,
        reference_id: str | None | Unset = UNSET,
        count: int | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.AcceptedGeneration:
        """Generate emails.

        Returns immediately and generates the emails in the background. Emits email.generation.started, then
        email.generation.completed or email.generation.failed.

        Args:
            project_id: The project of the brand that sends the emails.
            prompt: The purpose of the emails, and every fact that the emails must contain: offers, codes,
                dates, names and links. Required unless there is a brief.
            brief: The content of the emails, part by part, as `POST /v1/projects/emails/brief` returns it.
                The emails are written from the brief, and the spans of the brief refer to the prompt. To
                correct a fact, change its `text` and omit its `value`: sentences in the brief that contain
                the old text are corrected, too. If absent, the brief is read from the prompt.
            images: The images to use in the emails.
            model: The model: `composer` for the built-in composer, or the name of a language model in the
                settings. If absent, the default model is used.
            web_mode: Whether pages that the prompt links to may be read. The default is true.
            languages: The languages in which each email is generated, as BCP 47 tags. The email in the first
                language is the original, and the emails in the other languages are its translations. The
                default is the language of the brief or the prompt.
            visibility: Who may see the emails without an API key. The default is `private`.
            reference_id: A conversation whose emails serve as a reference for the style of the new emails.
            count: The number of emails. If absent, it is inferred from the prompt.
        """
        return _t.cast("t.AcceptedGeneration", await self._call(
            "POST",
            "/projects/emails/generate",
            {"projectId": project_id, "prompt": prompt, "brief": brief, "images": images, "model": model, "webMode": web_mode, "languages": languages, "visibility": visibility, "referenceId": reference_id, "count": count},
            request_options,
            keyed=True,
        ))

    async def import_html(
        self,
        *,
        project_id: str,
        html: str | None | Unset = UNSET,
        name: str | None | Unset = UNSET,
        htmls: _b.list[t.NamedSource] | Unset = UNSET,
        languages: _b.list[str] | Unset = UNSET,
        instruction: str | None | Unset = UNSET,
        visibility: t.EmailVisibility | Unset = UNSET,
        generate_media: bool | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.AcceptedGeneration:
        """Import emails as HTML.

        Removes scripts, forms, videos and other content that might not be safe, and conditional comments for
        Outlook in the head. If any comment for Outlook outside the head contains text or links, removes these
        comments too. The warnings of each email list what was removed. The screenshots are rendered in the
        background: poll the status as for a generation. Imported emails can be edited with prompts, shown,
        exported and sent like generated emails, but have no document and no MJML.

        Args:
            html: The email's HTML.
            name: The name of the email. It becomes the subject if the source has neither a subject nor a
                title.
            htmls: The emails to import, instead of `html`.
            languages: A list whose first item is the language of the emails; all other items are ignored. If
                the list is absent or empty, each email has the language that its HTML declares or, if it
                declares none, the brand's main language.
            instruction: A change to make to each email, in plain words. The change becomes the first edit of
                each email, with its own version. If the change fails, the email is imported unchanged, with a
                warning that explains why.
            visibility: Who may see the emails without an API key. The default is `private`.
            generate_media: Whether to generate images for the emails. This service cannot generate images, so
                `true` only adds a warning to each email.
        """
        return _t.cast("t.AcceptedGeneration", await self._call(
            "POST",
            "/projects/emails/import-html",
            {"projectId": project_id, "html": html, "name": name, "htmls": htmls, "languages": languages, "instruction": instruction, "visibility": visibility, "generateMedia": generate_media},
            request_options,
            keyed=True,
        ))

    async def status(
        self,
        conversation_id: str,
        *,
        project_id: str | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.GenerationStatus:
        """Get the status of a generation.

        Poll every two seconds until `status` is `completed` or `failed`. A completed generation has at least
        one email that is ready; failed emails have an error.

        Args:
            project_id: If given, the conversation must belong to this project.
        """
        return _t.cast("t.GenerationStatus", await self._call(
            "GET",
            f"/projects/emails/{path_part(conversation_id)}/status",
            {"projectId": project_id},
            request_options,
        ))

    def list(
        self,
        *,
        project_id: str,
        status: t.StateWord | Unset = UNSET,
        search: str | Unset = UNSET,
        favorite: bool | Unset = UNSET,
        limit: int | Unset = UNSET,
        offset: int | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> AsyncList[t.EmailsListPage, t.ConversationView]:
        """List email conversations.

        Lists conversations, newest first. A conversation has one or more emails; the list shows the subject
        and thumbnail of its first email.

        Args:
            project_id: The project that the conversations belong to.
            status: If given, only conversations with this status are listed.
            search: If given, only conversations are listed whose title or prompt, or the subject of one of
                their emails, contains this text, ignoring case.
            favorite: Whether to list only conversations with a favorite email.
            offset: The number of conversations to skip.
        """
        return self._list(
            "/projects/emails",
            "emails",
            "offset",
            {"projectId": project_id, "status": status, "search": search, "favorite": favorite, "limit": limit, "offset": offset},
            request_options,
        )

    async def get(
        self,
        email_id: str,
        *,
        project_id: str | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.EmailDetails:
        """Get an email.

        Args:
            project_id: If given, the email must belong to the project with this ID.
        """
        return _t.cast("t.EmailDetails", await self._call(
            "GET",
            f"/emails/{path_part(email_id)}",
            {"projectId": project_id},
            request_options,
        ))

    async def create(
        self,
        *,
        project_id: str,
        design: str | None | Unset = UNSET,
        document: _t.Any | Unset = UNSET,
        language: str | None | Unset = UNSET,
        visibility: t.EmailVisibility | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.EmailDetails:
        """Create an email from a design or a document.

        The email is ready immediately. Its screenshots follow within seconds.

        Args:
            project_id: The project of the brand that sends the email.
            design: The name of a starter design; `blank` if both `design` and `document` are absent. The
                brand's header and footer are added.
            document: The email's document: typed blocks, starting with a header and ending with a footer.
            language: The language of a design's header and footer, as a BCP 47 tag. The default is the
                brand's main language. The text of designs is in English.
            visibility: Who may see the email without an API key. The default is `private`.
        """
        return _t.cast("t.EmailDetails", await self._call(
            "POST",
            "/emails",
            {"projectId": project_id, "design": design, "document": document, "language": language, "visibility": visibility},
            request_options,
            keyed=True,
        ))

    async def update_document(
        self,
        email_id: str,
        *,
        operations: _b.list[t.DocumentChangeInput],
        project_id: str | None | Unset = UNSET,
        version: int | None | Unset = UNSET,
        preview: bool | Unset = UNSET,
        autosave: bool | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.EmailDetails:
        """Edit the document of an email.

        Saves the changed document as a new version, and renders the HTML, MJML and text. The screenshots
        follow within seconds. Imported HTML has no document; edit it with a prompt.

        Args:
            operations: The changes, in order. Either all of them are saved, or none.
            project_id: If given, the email must belong to the project with this ID.
            version: The version that the changes are based on. If it is not the current version, the response
                is 409 and nothing is saved.
            preview: Whether to return the changed email without saving it.
            autosave: Whether this is an autosave. An autosave replaces the current version if that version
                combines the caller's own autosaves, the first of which was saved less than ten minutes ago.
        """
        return _t.cast("t.EmailDetails", await self._call(
            "PATCH",
            f"/emails/{path_part(email_id)}/document",
            {"operations": operations, "projectId": project_id, "version": version, "preview": preview, "autosave": autosave},
            request_options,
            keyed=True,
        ))

    async def favorite(
        self,
        email_id: str,
        *,
        favorite: bool,
        project_id: str | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.FavoriteResult:
        """Mark or unmark an email as a favorite.

        Args:
            project_id: If given, the email must belong to the project with this ID.
        """
        return _t.cast("t.FavoriteResult", await self._call(
            "PUT",
            f"/emails/{path_part(email_id)}/favorite",
            {"favorite": favorite, "projectId": project_id},
            request_options,
        ))

    async def html(
        self,
        email_id: str,
        *,
        images: bool | Unset = UNSET,
        dark: bool | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> str:
        """Show an email as a page.

        Merge fields show their defaults or, without a default, their names. The page runs no scripts and
        sends no data. It loads no remote images unless `images` is true. Its links open in a new window.

        Args:
            images: Whether to load remote images through this service. If false or absent, only images that
                this service stores are shown.
            dark: Whether to show the email's colors for dark mode. If absent, the device decides.
        """
        return _t.cast("str", await self._call(
            "GET",
            f"/emails/{path_part(email_id)}/html",
            {"images": images, "dark": dark},
            request_options,
            answer="text",
        ))

    async def metrics(
        self,
        email_id: str,
        *,
        project_id: str | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.EmailMetrics:
        """Get the metrics of an email.

        Covers all campaigns, batches and direct sends of the email, including test sends. Opens and clicks by
        security scanners, by clients that prefetch and by Apple's privacy proxy are not counted.

        Args:
            email_id: The email's ID.
            project_id: If given, the email must belong to the project with this ID.
        """
        return _t.cast("t.EmailMetrics", await self._call(
            "GET",
            f"/emails/{path_part(email_id)}/metrics",
            {"projectId": project_id},
            request_options,
        ))

    def logs(
        self,
        email_id: str,
        *,
        project_id: str | Unset = UNSET,
        limit: int | Unset = UNSET,
        cursor: str | Unset = UNSET,
        status: t.EmailLogStatus | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> AsyncList[t.EmailLogPart, t.CampaignLog]:
        """List the recipients of an email.

        Covers all campaigns, batches and direct sends of the email, newest first. A page can have fewer rows
        than requested, or none, even though nextCursor is set.

        Args:
            email_id: The email's ID.
            project_id: If given, the email must belong to the project with this ID.
            cursor: The `nextCursor` of the previous response.
            status: Return only recipients with this status.
        """
        return self._list(
            f"/emails/{path_part(email_id)}/logs",
            "emails",
            "cursor",
            {"projectId": project_id, "limit": limit, "cursor": cursor, "status": status},
            request_options,
        )

    async def send(
        self,
        *,
        recipient_type: t.SendTo,
        from_: str,
        recipient_id: str | None | Unset = UNSET,
        recipient_email: str | None | Unset = UNSET,
        from_name: str | None | Unset = UNSET,
        subject: str | None | Unset = UNSET,
        reply_to: str | None | Unset = UNSET,
        bcc: _b.list[str] | None | Unset = UNSET,
        template: str | None | Unset = UNSET,
        email_id: str | None | Unset = UNSET,
        conversation_id: str | None | Unset = UNSET,
        variables: dict[str, t.AnyJson] | None | Unset = UNSET,
        project_id: str | None | Unset = UNSET,
        provider_type: str | None | Unset = UNSET,
        transactional: bool | None | Unset = UNSET,
        topic_id: str | None | Unset = UNSET,
        utm: t.UtmParametersInput | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.SendAccepted:
        """Send an email.

        Returns once the send is on disk; delivery follows. With an Idempotency-Key, a repeated request gets
        the first response and sends nothing. Set the content with `emailId`, `conversationId` or `template`.
        If a merge field has neither a value nor a default, a send to one address fails, and a send to an
        audience skips the contact.

        Args:
            from_: The From address. For live mail, its domain must be verified, unless the settings allow
                unverified domains.
            recipient_id: The ID of the segment or tag. If `recipientType` is `audience`, the project's ID is
                also accepted.
            recipient_email: The recipient's address. Set it only if `recipientType` is `email`.
            from_name: The sender's name.
            subject: The subject, which may contain merge fields. If absent, the email's own subject in each
                language is used.
            reply_to: The address that receives replies.
            bcc: Additional addresses. Each address receives its own message. Allowed only if `recipientType`
                is `email`.
            template: HTML with merge fields, to send instead of a stored email.
            email_id: The ID of the email to send. Without `conversationId`, all recipients receive this
                email; with `conversationId`, this ID selects an email in the series.
            conversation_id: The ID of the conversation that contains the email: the email selected by
                `emailId` or, without `emailId`, the first email in the series. Each recipient receives the
                email in the contact's language or, if the series has no email in that language, the selected
                or first email itself.
            variables: Values of merge fields, shared by all recipients.
            project_id: The ID of the project that owns the contacts. If absent, the project of the stored
                email is used or, if the request contains the HTML, the project whose ID is in `recipientId`.
            provider_type: Accepted for compatibility and ignored: the settings determine the provider that
                delivers mail.
            transactional: Whether the recipient expects this message. If true, the message ignores
                subscriptions and has no unsubscribe headers. If absent, the value is true for one address and
                false for an audience.
            topic_id: Send only to contacts who are subscribed to the topic with this ID. Ignored if the
                message is transactional.
            utm: UTM parameters for links, for web analytics. If absent, the setting of the From address's
                domain applies.
        """
        return _t.cast("t.SendAccepted", await self._call(
            "POST",
            "/sending",
            {"recipientType": recipient_type, "from": from_, "recipientId": recipient_id, "recipientEmail": recipient_email, "fromName": from_name, "subject": subject, "replyTo": reply_to, "bcc": bcc, "template": template, "emailId": email_id, "conversationId": conversation_id, "variables": variables, "projectId": project_id, "providerType": provider_type, "transactional": transactional, "topicId": topic_id, "utm": utm},
            request_options,
            keyed=True,
        ))

    async def send_test(
        self,
        *,
        to: str,
        email_id: str | None | Unset = UNSET,
        conversation_id: str | None | Unset = UNSET,
        from_: str | None | Unset = UNSET,
        from_name: str | None | Unset = UNSET,
        variables: dict[str, t.AnyJson] | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.TestSendResult:
        """Send a test email.

        Emits the event email.test.sent. The message is the same as in a send to one address, but its opens
        and clicks are not tracked. The recipient does not have to be subscribed.

        Args:
            to: The address that receives the test.
            email_id: The ID of the email to send. Without `conversationId`, this email itself is sent; with
                `conversationId`, this ID selects an email in the series.
            conversation_id: The ID of the conversation that contains the email: the email selected by
                `emailId` or, without `emailId`, the first email in the series. The email is sent in the
                language of the contact with the address `to`. If there is no such contact, or no email in
                that language, the selected or first email itself is sent.
            from_: The From address. If absent, the project's default sender is used. If the project has no
                default sender, a test key uses an address of the simulator. For live mail, the address's
                domain must be verified, unless the settings allow unverified domains.
            from_name: The sender's name.
            variables: Values of merge fields. Missing values are taken from the contact with the address
                `to`, if there is one.
        """
        return _t.cast("t.TestSendResult", await self._call(
            "POST",
            "/emails/test/send",
            {"to": to, "emailId": email_id, "conversationId": conversation_id, "from": from_, "fromName": from_name, "variables": variables},
            request_options,
            keyed=True,
        ))

    async def generate_and_wait(
        self,
        *,
        project_id: str,
        prompt: str | None | Unset = UNSET,
        brief: t.BriefInput | None | Unset = UNSET,
        images: _b.list[t.GivenImage] | Unset = UNSET,
        model: str | None | Unset = UNSET,
        web_mode: bool | None | Unset = UNSET,
        languages: _b.list[str] | Unset = UNSET,
        visibility: t.EmailVisibility | Unset = UNSET,
        reference_id: str | None | Unset = UNSET,
        count: int | None | Unset = UNSET,
        on_progress: collections.abc.Callable[[t.GenerationStatus], object] | None = None,
        poll_interval: float = 2.0,
        wait_timeout: float = 600.0,
        request_options: CallOptions | None = None,
    ) -> t.CompletedGenerationStatus:
        """Generate emails, and wait until the job has ended.

        Args:
            project_id: The project of the brand that sends the emails.
            prompt: The purpose of the emails, and every fact that the emails must contain: offers, codes,
                dates, names and links. Required unless there is a brief.
            brief: The content of the emails, part by part, as `POST /v1/projects/emails/brief` returns it.
                The emails are written from the brief, and the spans of the brief refer to the prompt. To
                correct a fact, change its `text` and omit its `value`: sentences in the brief that contain
                the old text are corrected, too. If absent, the brief is read from the prompt.
            images: The images to use in the emails.
            model: The model: `composer` for the built-in composer, or the name of a language model in the
                settings. If absent, the default model is used.
            web_mode: Whether pages that the prompt links to may be read. The default is true.
            languages: The languages in which each email is generated, as BCP 47 tags. The email in the first
                language is the original, and the emails in the other languages are its translations. The
                default is the language of the brief or the prompt.
            visibility: Who may see the emails without an API key. The default is `private`.
            reference_id: A conversation whose emails serve as a reference for the style of the new emails.
            count: The number of emails. If absent, it is inferred from the prompt.
            on_progress: Receives each status that the job reports.
            poll_interval: The seconds between two requests for the status.
            wait_timeout: The seconds that the job may take. The job continues on the server after that.

        Raises:
            JobFailedError: The job failed.
        """
        job = Job(
            ("completed",),
            ("failed",),
            ("result",),
            on_progress,
            poll_interval,
            wait_timeout,
            request_options,
        )
        started = await self._client.emails.generate(
            project_id=project_id,
            prompt=prompt,
            brief=brief,
            images=images,
            model=model,
            web_mode=web_mode,
            languages=languages,
            visibility=visibility,
            reference_id=reference_id,
            count=count,
            request_options=request_options,
        )
        return _t.cast("t.CompletedGenerationStatus", await self._wait(
            started,
            lambda started, options: self._client.emails.status(started["conversationId"], request_options=options),
            job,
        ))

    async def import_html_and_wait(
        self,
        *,
        project_id: str,
        html: str | None | Unset = UNSET,
        name: str | None | Unset = UNSET,
        htmls: _b.list[t.NamedSource] | Unset = UNSET,
        languages: _b.list[str] | Unset = UNSET,
        instruction: str | None | Unset = UNSET,
        visibility: t.EmailVisibility | Unset = UNSET,
        generate_media: bool | Unset = UNSET,
        on_progress: collections.abc.Callable[[t.GenerationStatus], object] | None = None,
        poll_interval: float = 2.0,
        wait_timeout: float = 600.0,
        request_options: CallOptions | None = None,
    ) -> t.CompletedGenerationStatus:
        """Import emails as HTML, and wait until the job has ended.

        Args:
            html: The email's HTML.
            name: The name of the email. It becomes the subject if the source has neither a subject nor a
                title.
            htmls: The emails to import, instead of `html`.
            languages: A list whose first item is the language of the emails; all other items are ignored. If
                the list is absent or empty, each email has the language that its HTML declares or, if it
                declares none, the brand's main language.
            instruction: A change to make to each email, in plain words. The change becomes the first edit of
                each email, with its own version. If the change fails, the email is imported unchanged, with a
                warning that explains why.
            visibility: Who may see the emails without an API key. The default is `private`.
            generate_media: Whether to generate images for the emails. This service cannot generate images, so
                `true` only adds a warning to each email.
            on_progress: Receives each status that the job reports.
            poll_interval: The seconds between two requests for the status.
            wait_timeout: The seconds that the job may take. The job continues on the server after that.

        Raises:
            JobFailedError: The job failed.
        """
        job = Job(
            ("completed",),
            ("failed",),
            ("result",),
            on_progress,
            poll_interval,
            wait_timeout,
            request_options,
        )
        started = await self._client.emails.import_html(
            project_id=project_id,
            html=html,
            name=name,
            htmls=htmls,
            languages=languages,
            instruction=instruction,
            visibility=visibility,
            generate_media=generate_media,
            request_options=request_options,
        )
        return _t.cast("t.CompletedGenerationStatus", await self._wait(
            started,
            lambda started, options: self._client.emails.status(started["conversationId"], request_options=options),
            job,
        ))


class AsyncSavedBlocks(AsyncResource):
    _client: AsyncMailmill

    def __init__(self, client: AsyncMailmill) -> None:
        super().__init__(client)

    def list(
        self,
        project_id: str,
        *,
        limit: int | Unset = UNSET,
        offset: int | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> AsyncList[t.SavedBlocksListPage, t.SavedBlockView]:
        """List saved blocks.

        Lists saved blocks, newest first.

        Args:
            offset: The number of saved blocks to skip.
        """
        return self._list(
            f"/projects/{path_part(project_id)}/blocks",
            "blocks",
            "offset",
            {"limit": limit, "offset": offset},
            request_options,
        )

    async def create(
        self,
        project_id: str,
        *,
        name: str,
        block: _t.Any,
        request_options: CallOptions | None = None,
    ) -> t.SavedBlockView:
        """Save a block for other emails.

        Args:
            name: The name of the block. Unique in the project, ignoring case.
            block: The block, in the format of an email's document. Its IDs are not saved.
        """
        return _t.cast("t.SavedBlockView", await self._call(
            "POST",
            f"/projects/{path_part(project_id)}/blocks",
            {"name": name, "block": block},
            request_options,
            keyed=True,
        ))

    async def update(
        self,
        project_id: str,
        block_id: str,
        *,
        name: str,
        request_options: CallOptions | None = None,
    ) -> t.SavedBlockView:
        """Rename a saved block.

        Args:
            name: The new name of the block. Unique in the project, ignoring case.
        """
        return _t.cast("t.SavedBlockView", await self._call(
            "PATCH",
            f"/projects/{path_part(project_id)}/blocks/{path_part(block_id)}",
            {"name": name},
            request_options,
        ))

    async def delete(
        self,
        project_id: str,
        block_id: str,
        *,
        request_options: CallOptions | None = None,
    ) -> t.DeletedBlock:
        """Delete a saved block.

        Emails that contain the block keep it.
        """
        return _t.cast("t.DeletedBlock", await self._call(
            "DELETE",
            f"/projects/{path_part(project_id)}/blocks/{path_part(block_id)}",
            None,
            request_options,
        ))


class AsyncValidation(AsyncResource):
    _client: AsyncMailmill

    def __init__(self, client: AsyncMailmill) -> None:
        super().__init__(client)

    async def compatibility(
        self,
        *,
        html: str | None | Unset = UNSET,
        email_id: str | None | Unset = UNSET,
        clients: _b.list[str] | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.CompatibilityReport:
        """Check an email in email clients.

        Compares the HTML and CSS of the email with the support tables of caniemail.com. A feature is not
        reported if the tables' notes show that its problem does not occur in the email. Each finding states
        its effect, where it occurs, the number of affected elements and, if there is one, a remedy.

        Args:
            html: The email's HTML.
            email_id: The ID of a stored email, instead of `html`.
            clients: The keys of the clients to check, such as `gmail.desktop-webmail`. If empty or absent,
                all clients are checked.
        """
        return _t.cast("t.CompatibilityReport", await self._call(
            "POST",
            "/emails/validate/compatibility",
            {"html": html, "emailId": email_id, "clients": clients},
            request_options,
        ))

    async def links(
        self,
        *,
        html: str | None | Unset = UNSET,
        email_id: str | None | Unset = UNSET,
        timeout: int | None | Unset = UNSET,
        follow_redirects: bool | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.LinkAnalysis:
        """Check the links in an email.

        Requests the URLs of the email with HEAD and, if that fails, with GET for one byte. After a server
        error, or after a pause that the server requests, the GET request is repeated. URLs that could change
        something, such as an unsubscribe or confirmation link, get only HEAD requests. Requests, including
        those after redirects, are sent only to public addresses and to networks that the operator has
        allowed. At most 200 URLs are requested, at most two at the same time per domain. If the check reaches
        its time limit, the remaining URLs have the status `skipped`, and `metadata.complete` is false.
        Results are cached for 60 seconds.

        Args:
            html: The email's HTML.
            email_id: The ID of a stored email, instead of `html`.
            timeout: The time limit for each link in milliseconds. The default is 10,000.
            follow_redirects: Whether redirects are followed. The default is true. If false, a link that
                redirects has the status `redirected`, and its target is not checked.
        """
        return _t.cast("t.LinkAnalysis", await self._call(
            "POST",
            "/emails/validate/links",
            {"html": html, "emailId": email_id, "timeout": timeout, "followRedirects": follow_redirects},
            request_options,
        ))

    async def spelling(
        self,
        *,
        html: str | None | Unset = UNSET,
        email_id: str | None | Unset = UNSET,
        project_id: str | None | Unset = UNSET,
        languages: _b.list[str] | Unset = UNSET,
        check_grammar: bool | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.SpellingAnalysis:
        """Check the spelling of an email.

        Dictionaries for English, Dutch, French, Spanish, Portuguese, Russian, Danish and Polish are built in;
        others are read from the folder in the setting validation.dictionaries and from /usr/share/hunspell. A
        language without a dictionary is listed in `metadata.languagesWithoutDictionary`.

        Args:
            html: The email's HTML.
            email_id: The ID of a stored email, instead of `html`.
            project_id: The ID of the project whose names and terms count as correct, such as those of the
                brand, its products and its sender. If absent, the project of `emailId`.
            languages: The languages of the email, such as `en` or `pt-BR`. If empty or absent, the languages
                are detected.
            check_grammar: Whether to check grammar too. The default is true.
        """
        return _t.cast("t.SpellingAnalysis", await self._call(
            "POST",
            "/emails/validate/spelling",
            {"html": html, "emailId": email_id, "projectId": project_id, "languages": languages, "checkGrammar": check_grammar},
            request_options,
        ))

    async def deliverability(
        self,
        *,
        html: str | None | Unset = UNSET,
        email_id: str | None | Unset = UNSET,
        subject: str | None | Unset = UNSET,
        from_name: str | None | Unset = UNSET,
        from_email: str | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.DeliverabilityAnalysis:
        """Predict the deliverability of an email.

        Judges the content with rules, compares its words with those of known mail, and checks the DNS records
        of the sender's domain within 3 seconds. The content does not show the sender's reputation, which
        matters most, so `confidence` is at most 0.8. If the sender is unknown, `authentication` is absent.
        Records that could not be looked up in time do not affect the score.

        Args:
            html: The email's HTML.
            email_id: The ID of a stored email, instead of `html`.
            subject: The subject of the email. If absent, the subject of the stored email.
            from_name: The sender's name.
            from_email: The sender's address. The DNS records of its domain are checked. If absent, the
                default sender of the stored email's project is used.
        """
        return _t.cast("t.DeliverabilityAnalysis", await self._call(
            "POST",
            "/emails/validate/deliverability",
            {"html": html, "emailId": email_id, "subject": subject, "fromName": from_name, "fromEmail": from_email},
            request_options,
        ))

    async def all(
        self,
        *,
        html: str | None | Unset = UNSET,
        email_id: str | None | Unset = UNSET,
        project_id: str | None | Unset = UNSET,
        subject: str | None | Unset = UNSET,
        from_name: str | None | Unset = UNSET,
        from_email: str | None | Unset = UNSET,
        options: t.CheckOptions | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.ValidationReport:
        """Run all checks on an email.

        Runs the checks at the same time, each with its own time limit. If a check does not finish, the report
        contains the other checks, and `metadata.checksIncomplete` names it.

        Args:
            html: The email's HTML.
            email_id: The ID of a stored email, instead of `html`.
            project_id: The ID of the project whose names the spelling check accepts. If absent, the project
                of `emailId`.
            subject: The subject of the email. If absent, the subject of the stored email.
            from_name: The sender's name.
            from_email: The sender's address. The DNS records of its domain are checked.
            options: The checks to run, with their options.
        """
        return _t.cast("t.ValidationReport", await self._call(
            "POST",
            "/emails/validate/all",
            {"html": html, "emailId": email_id, "projectId": project_id, "subject": subject, "fromName": from_name, "fromEmail": from_email, "options": options},
            request_options,
        ))


class AsyncPreviewsDevices(AsyncResource):
    _client: AsyncMailmill

    def __init__(self, client: AsyncMailmill) -> None:
        super().__init__(client)

    async def get(
        self,
        preview_id: str,
        device_key: str,
        *,
        request_options: CallOptions | None = None,
    ) -> t.OneDeviceView:
        """Get one device of a preview.

        Args:
            device_key: The key of the device, such as `gmail.ios`.
        """
        return _t.cast("t.OneDeviceView", await self._call(
            "GET",
            f"/emails/previews/{path_part(preview_id)}/devices/{path_part(device_key)}",
            None,
            request_options,
        ))

    async def list(self, *, request_options: CallOptions | None = None) -> t.SupportedDevices:
        """List the devices available for previews."""
        return _t.cast("t.SupportedDevices", await self._call(
            "GET",
            "/emails/devices/supported",
            None,
            request_options,
        ))


class AsyncPreviews(AsyncResource):
    _client: AsyncMailmill

    def __init__(self, client: AsyncMailmill) -> None:
        super().__init__(client)
        self.devices = AsyncPreviewsDevices(client)

    async def create(
        self,
        *,
        html: str | None | Unset = UNSET,
        email_id: str | None | Unset = UNSET,
        subject: str | None | Unset = UNSET,
        devices: _b.list[_t.Literal["apple-mail.ios", "apple-mail.ios.dark", "apple-mail.ios.no-images", "apple-mail.ios-small", "apple-mail.ios-small.dark", "apple-mail.ios-large", "apple-mail.ios-large.dark", "apple-mail.ios-ipad", "apple-mail.ipad", "apple-mail.ios-ipad.dark", "apple-mail.ipad.dark", "apple-mail.macos", "apple-mail.macos.dark", "gmail.desktop-webmail", "gmail.desktop-webmail.no-images", "gmail.ios", "gmail.ios.dark", "gmail.android", "gmail.android.dark", "gmail.imap", "gmail.imap.dark", "gmail.mobile-webmail", "outlook.windows", "outlook.desktop-windows", "outlook.windows.dark", "outlook.desktop-windows.dark", "outlook.windows.no-images", "outlook.desktop-windows.no-images", "outlook.windows.120dpi", "outlook.desktop-windows.120dpi", "outlook.outlook-com", "outlook.outlook-com.dark", "outlook.macos", "outlook.macos.dark", "outlook.ios", "outlook.ios.dark", "outlook.android", "outlook.android.dark", "yahoo.desktop-webmail", "yahoo.ios", "yahoo.android", "aol.desktop-webmail", "samsung-email.android", "samsung-email.android.dark", "protonmail.desktop-webmail", "protonmail.desktop-webmail.no-images", "protonmail.ios", "protonmail.ios.no-images", "thunderbird.macos", "thunderbird.windows", "thunderbird.macos.dark", "thunderbird.windows.dark", "thunderbird.macos.no-images", "thunderbird.windows.no-images", "gmx.desktop-webmail", "web-de.desktop-webmail", "fastmail.desktop-webmail", "hey.desktop-webmail", "plain.text"]] | Unset = UNSET,
        name: str | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.PreviewView:
        """Preview an email on devices.

        Returns immediately; the devices are drawn in the background, within seconds. Each picture is a
        simulation: a browser engine draws the parts of the email that the client keeps. A picture of the same
        content on the same device can be reused for a day; if it is reused, `cached` is true. Previews are
        kept for at most a week.

        Args:
            html: The email's HTML.
            email_id: The ID of a stored email, instead of `html`.
            subject: The subject. If absent, the subject of the stored email is used or, without a stored
                email, `Email Preview`.
            devices: The keys of the devices, such as `gmail.ios` or `outlook.windows.dark`. If empty or
                absent, ten common devices are used.
            name: A name for the preview.
        """
        return _t.cast("t.PreviewView", await self._call(
            "POST",
            "/emails/previews",
            {"html": html, "emailId": email_id, "subject": subject, "devices": devices, "name": name},
            request_options,
            keyed=True,
        ))

    async def get(self, preview_id: str, *, request_options: CallOptions | None = None) -> t.PreviewView:
        """Get a preview."""
        return _t.cast("t.PreviewView", await self._call(
            "GET",
            f"/emails/previews/{path_part(preview_id)}",
            None,
            request_options,
        ))

    async def status(
        self,
        preview_id: str,
        *,
        request_options: CallOptions | None = None,
    ) -> t.PreviewStatusView:
        """Get the status of a preview."""
        return _t.cast("t.PreviewStatusView", await self._call(
            "GET",
            f"/emails/previews/{path_part(preview_id)}/status",
            None,
            request_options,
        ))

    async def create_and_wait(
        self,
        *,
        html: str | None | Unset = UNSET,
        email_id: str | None | Unset = UNSET,
        subject: str | None | Unset = UNSET,
        devices: _b.list[_t.Literal["apple-mail.ios", "apple-mail.ios.dark", "apple-mail.ios.no-images", "apple-mail.ios-small", "apple-mail.ios-small.dark", "apple-mail.ios-large", "apple-mail.ios-large.dark", "apple-mail.ios-ipad", "apple-mail.ipad", "apple-mail.ios-ipad.dark", "apple-mail.ipad.dark", "apple-mail.macos", "apple-mail.macos.dark", "gmail.desktop-webmail", "gmail.desktop-webmail.no-images", "gmail.ios", "gmail.ios.dark", "gmail.android", "gmail.android.dark", "gmail.imap", "gmail.imap.dark", "gmail.mobile-webmail", "outlook.windows", "outlook.desktop-windows", "outlook.windows.dark", "outlook.desktop-windows.dark", "outlook.windows.no-images", "outlook.desktop-windows.no-images", "outlook.windows.120dpi", "outlook.desktop-windows.120dpi", "outlook.outlook-com", "outlook.outlook-com.dark", "outlook.macos", "outlook.macos.dark", "outlook.ios", "outlook.ios.dark", "outlook.android", "outlook.android.dark", "yahoo.desktop-webmail", "yahoo.ios", "yahoo.android", "aol.desktop-webmail", "samsung-email.android", "samsung-email.android.dark", "protonmail.desktop-webmail", "protonmail.desktop-webmail.no-images", "protonmail.ios", "protonmail.ios.no-images", "thunderbird.macos", "thunderbird.windows", "thunderbird.macos.dark", "thunderbird.windows.dark", "thunderbird.macos.no-images", "thunderbird.windows.no-images", "gmx.desktop-webmail", "web-de.desktop-webmail", "fastmail.desktop-webmail", "hey.desktop-webmail", "plain.text"]] | Unset = UNSET,
        name: str | None | Unset = UNSET,
        on_progress: collections.abc.Callable[[t.PreviewView], object] | None = None,
        poll_interval: float = 2.0,
        wait_timeout: float = 600.0,
        request_options: CallOptions | None = None,
    ) -> t.PreviewView:
        """Preview an email on devices, and wait until the job has ended.

        Args:
            html: The email's HTML.
            email_id: The ID of a stored email, instead of `html`.
            subject: The subject. If absent, the subject of the stored email is used or, without a stored
                email, `Email Preview`.
            devices: The keys of the devices, such as `gmail.ios` or `outlook.windows.dark`. If empty or
                absent, ten common devices are used.
            name: A name for the preview.
            on_progress: Receives each status that the job reports.
            poll_interval: The seconds between two requests for the status.
            wait_timeout: The seconds that the job may take. The job continues on the server after that.

        Raises:
            JobFailedError: The job failed.
        """
        job = Job(
            ("COMPLETED", "PARTIAL_SUCCESS",),
            ("FAILED",),
            (),
            on_progress,
            poll_interval,
            wait_timeout,
            request_options,
        )
        started = await self._client.previews.create(
            html=html,
            email_id=email_id,
            subject=subject,
            devices=devices,
            name=name,
            request_options=request_options,
        )
        return await self._wait(
            started,
            lambda started, options: self._client.previews.get(started["previewId"], request_options=options),
            job,
        )


class AsyncExports(AsyncResource):
    _client: AsyncMailmill

    def __init__(self, client: AsyncMailmill) -> None:
        super().__init__(client)

    async def html(
        self,
        conversation_id: str,
        *,
        email_id: str | Unset = UNSET,
        project_id: str | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.EmailExport:
        """Export emails as HTML.

        Creates one HTML file for each finished email in the conversation; with emailId, only for that email.
        Merge fields are not filled in.

        Args:
            email_id: The only email to export. If absent, all finished emails of the conversation are
                exported.
            project_id: If given, the conversation must belong to this project.
        """
        return _t.cast("t.EmailExport", await self._call(
            "GET",
            f"/export/html/{path_part(conversation_id)}",
            {"emailId": email_id, "projectId": project_id},
            request_options,
        ))

    async def mjml(
        self,
        conversation_id: str,
        *,
        email_id: str | Unset = UNSET,
        project_id: str | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.EmailExport:
        """Export emails as MJML.

        Creates one MJML file for each finished email in the conversation; with emailId, only for that email.
        Fails if one of these emails was imported as HTML, because imported emails have no MJML.

        Args:
            email_id: The only email to export. If absent, all finished emails of the conversation are
                exported.
            project_id: If given, the conversation must belong to this project.
        """
        return _t.cast("t.EmailExport", await self._call(
            "GET",
            f"/export/mjml/{path_part(conversation_id)}",
            {"emailId": email_id, "projectId": project_id},
            request_options,
        ))

    async def png(
        self,
        conversation_id: str,
        *,
        email_id: str | Unset = UNSET,
        project_id: str | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.EmailExport:
        """Export emails as PNG.

        Creates one PNG image for each finished email in the conversation; with emailId, only for that email.
        Each image shows the whole email, 600 CSS pixels wide, with two image pixels per CSS pixel.

        Args:
            email_id: The only email to export. If absent, all finished emails of the conversation are
                exported.
            project_id: If given, the conversation must belong to this project.
        """
        return _t.cast("t.EmailExport", await self._call(
            "GET",
            f"/export/png/{path_part(conversation_id)}",
            {"emailId": email_id, "projectId": project_id},
            request_options,
        ))

    async def pdf(
        self,
        conversation_id: str,
        *,
        email_id: str | Unset = UNSET,
        project_id: str | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.EmailExport:
        """Export emails as PDF.

        Creates one PDF file for each finished email in the conversation; with emailId, only for that email.
        Each file has searchable text and working links.

        Args:
            email_id: The only email to export. If absent, all finished emails of the conversation are
                exported.
            project_id: If given, the conversation must belong to this project.
        """
        return _t.cast("t.EmailExport", await self._call(
            "GET",
            f"/export/pdf/{path_part(conversation_id)}",
            {"emailId": email_id, "projectId": project_id},
            request_options,
        ))

    async def klaviyo(
        self,
        conversation_id: str,
        *,
        email_id: str | Unset = UNSET,
        project_id: str | Unset = UNSET,
        as_: t.ExportDestination | Unset = UNSET,
        klaviyo_type: t.KlaviyoType | Unset = UNSET,
        connection_id: str | Unset = UNSET,
        images: t.ImageHosting | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.EmailExport:
        """Export emails for Klaviyo.

        Creates a template or draft in the connected account for each finished email in the conversation; with
        emailId, only for that email. Merge fields and unsubscribe links are in the platform's syntax.
        Exporting an email again updates what the first export created, unless it was deleted or sent. Also
        requires email:write, except with as=file, which creates files to upload and needs no connected
        account. Merge fields that the platform doesn't support are removed, and listed in `untranslated`.

        Args:
            email_id: The only email to export. If absent, all finished emails of the conversation are
                exported.
            project_id: If given, the conversation must belong to this project.
            as_: `file` creates files to download instead of exporting into a connected account.
            connection_id: The connection to use. Required if the brand can use several Klaviyo connections.
        """
        return _t.cast("t.EmailExport", await self._call(
            "GET",
            f"/export/platform_a/{path_part(conversation_id)}",
            {"emailId": email_id, "projectId": project_id, "as": as_, "klaviyoType": klaviyo_type, "connectionId": connection_id, "images": images},
            request_options,
        ))

    async def mailchimp(
        self,
        conversation_id: str,
        *,
        email_id: str | Unset = UNSET,
        project_id: str | Unset = UNSET,
        as_: t.ExportDestination | Unset = UNSET,
        mailchimp_type: t.MailchimpType | Unset = UNSET,
        connection_id: str | Unset = UNSET,
        images: t.ImageHosting | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.EmailExport:
        """Export emails for Mailchimp.

        Creates a template or draft in the connected account for each finished email in the conversation; with
        emailId, only for that email. Merge fields and unsubscribe links are in the platform's syntax.
        Exporting an email again updates what the first export created, unless it was deleted or sent. Also
        requires email:write, except with as=file, which creates files to upload and needs no connected
        account. Merge fields that the platform doesn't support are removed, and listed in `untranslated`.

        Args:
            email_id: The only email to export. If absent, all finished emails of the conversation are
                exported.
            project_id: If given, the conversation must belong to this project.
            as_: `file` creates files to download instead of exporting into a connected account.
            connection_id: The connection to use. Required if the brand can use several Mailchimp connections.
        """
        return _t.cast("t.EmailExport", await self._call(
            "GET",
            f"/export/platform_b/{path_part(conversation_id)}",
            {"emailId": email_id, "projectId": project_id, "as": as_, "mailchimpType": mailchimp_type, "connectionId": connection_id, "images": images},
            request_options,
        ))

    async def hubspot(
        self,
        *,
        conversation_id: str,
        email_id: str | None | Unset = UNSET,
        project_id: str | None | Unset = UNSET,
        as_: t.ExportDestination | None | Unset = UNSET,
        custom_options: t.ExportsHubspotCustomOptions | t.ExportsHubspotCustomOptions2 | Unset = UNSET,
        connection_id: str | None | Unset = UNSET,
        images: t.ImageHosting | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.EmailExport:
        """Export emails for HubSpot.

        Creates a template or draft in the connected account for each finished email in the conversation; with
        emailId, only for that email. Merge fields and unsubscribe links are in the platform's syntax.
        Exporting an email again updates what the first export created, unless it was deleted or sent. Also
        requires email:write, except with as=file, which creates files to upload and needs no connected
        account. Merge fields that the platform doesn't support are removed, and listed in `untranslated`.

        Args:
            email_id: The only email to export. If absent, all finished emails of the conversation are
                exported.
            project_id: If given, the conversation must belong to this project.
            as_: `file` creates files to download instead of exporting into a connected account.
            custom_options: What to create. If `type` is `template` (the default), the export creates a coded
                template; if it is `email`, a draft of a marketing email. For an email, these fields are
                passed on in the request to HubSpot: `activeDomain`, `businessUnitId`, `campaign`,
                `folderIdV2`, `from`, `language` and `subscriptionDetails`. `customInstructions` is accepted
                and has no effect.
            connection_id: The connection to use. Required if the brand can use several HubSpot connections.
        """
        return _t.cast("t.EmailExport", await self._call(
            "POST",
            "/export/platform_c",
            {"conversationId": conversation_id, "emailId": email_id, "projectId": project_id, "as": as_, "customOptions": custom_options, "connectionId": connection_id, "images": images},
            request_options,
            keyed=True,
        ))

    async def status(
        self,
        conversation_id: str,
        *,
        email_id: str | Unset = UNSET,
        project_id: str | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.ExportStatusView:
        """Get the status of an export.

        Args:
            email_id: The only email to export. If absent, all finished emails of the conversation are
                exported.
            project_id: If given, the conversation must belong to this project.
        """
        return _t.cast("t.ExportStatusView", await self._call(
            "GET",
            f"/export/status/{path_part(conversation_id)}",
            {"emailId": email_id, "projectId": project_id},
            request_options,
        ))

    async def formats(self, *, request_options: CallOptions | None = None) -> t.FormatsView:
        """List export formats."""
        return _t.cast("t.FormatsView", await self._call("GET", "/export/formats", None, request_options))


class AsyncContactsBulk(AsyncResource):
    _client: AsyncMailmill

    def __init__(self, client: AsyncMailmill) -> None:
        super().__init__(client)

    async def create(
        self,
        *,
        project_id: str,
        subscribers: _b.list[t.BulkRow],
        request_options: CallOptions | None = None,
    ) -> t.BulkChangeResult:
        """Add or update many contacts.

        A contact whose email the project already has is updated: new values replace existing values, tags are
        added, customFields are merged, and the status changes only if that does not override the contact's
        own choice. Up to 5,000 contacts are processed immediately; a larger request becomes a job. Emits
        subscriber.unsubscribed for each contact that becomes unsubscribed, and subscriber.bulk_imported once,
        when all rows have been processed.

        Args:
            project_id: The project of the contacts.
            subscribers: 1 to 50,000 contacts. An invalid contact is reported in the response and does not
                affect the others.
        """
        return _t.cast("t.BulkChangeResult", await self._call(
            "POST",
            "/contacts/bulk",
            {"projectId": project_id, "subscribers": subscribers},
            request_options,
            keyed=True,
        ))

    async def get(
        self,
        job_id: str,
        *,
        project_id: str | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.BulkProgress:
        """Get the progress of a bulk write.

        Returns finished jobs until 30 days after they end.

        Args:
            job_id: The job's ID, as returned by the bulk write or bulk change.
            project_id: The job's project. Optional; if given, the job must belong to it.
        """
        return _t.cast("t.BulkProgress", await self._call(
            "GET",
            f"/contacts/bulk/{path_part(job_id)}",
            {"projectId": project_id},
            request_options,
        ))


class AsyncContactsBulkChanges(AsyncResource):
    _client: AsyncMailmill

    def __init__(self, client: AsyncMailmill) -> None:
        super().__init__(client)

    async def create(
        self,
        *,
        project_id: str,
        ids: _b.list[str] | None | Unset = UNSET,
        all: bool | Unset = UNSET,
        segment_id: str | None | Unset = UNSET,
        filters: t.ExportFilters | None | Unset = UNSET,
        add_tags: _b.list[str] | Unset = UNSET,
        remove_tags: _b.list[str] | Unset = UNSET,
        status: t.ContactStatus | None | Unset = UNSET,
        delete: bool | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.BulkChangeDone:
        """Make the same change to many contacts.

        Emits subscriber.unsubscribed for each contact that is unsubscribed or deleted; other changes emit no
        event. Contacts listed in `ids` are changed immediately; `all` starts a job, which does not change
        contacts added later.

        Args:
            project_id: The project that the contacts belong to.
            ids: The IDs of 1 to 1,000 contacts. IDs that do not exist are ignored.
            all: True to select all contacts, optionally limited by `segmentId` and `filters`. Cannot be
                combined with `ids`.
            segment_id: With `all`, selects only contacts in this segment.
            filters: With `all`, selects only contacts that match these filters.
            add_tags: Names of tags to add. Tags that do not exist are created.
            remove_tags: Names of tags to remove.
            status: The new status. Every change is allowed; for example, this can resubscribe contacts who
                unsubscribed or bounced.
            delete: True to delete the contacts. Cannot be combined with other changes.
        """
        return _t.cast("t.BulkChangeDone", await self._call(
            "POST",
            "/contacts/bulk-change",
            {"projectId": project_id, "ids": ids, "all": all, "segmentId": segment_id, "filters": filters, "addTags": add_tags, "removeTags": remove_tags, "status": status, "delete": delete},
            request_options,
            keyed=True,
        ))

    async def get(
        self,
        job_id: str,
        *,
        project_id: str | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.BulkChangeProgress:
        """Get the progress of a bulk change.

        Returns finished jobs until 30 days after they end.

        Args:
            job_id: The job's ID, as returned by the bulk write or bulk change.
            project_id: The job's project. Optional; if given, the job must belong to it.
        """
        return _t.cast("t.BulkChangeProgress", await self._call(
            "GET",
            f"/contacts/bulk-change/{path_part(job_id)}",
            {"projectId": project_id},
            request_options,
        ))


class AsyncContactsImports(AsyncResource):
    _client: AsyncMailmill

    def __init__(self, client: AsyncMailmill) -> None:
        super().__init__(client)

    async def create(
        self,
        *,
        file: AsyncUpload,
        project_id: str,
        column_map: str | collections.abc.Mapping[str, _t.Any] | Unset = UNSET,
        on_conflict: _t.Literal["upsert", "skip"] | Unset = UNSET,
        delimiter: str | Unset = UNSET,
        tags: str | _b.list[str] | Unset = UNSET,
        status: t.ContactStatus | Unset = UNSET,
        hold: bool | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.ImportStarted:
        """Import contacts from a CSV file.

        Accepts multipart/form-data. Returns once the file has been stored; GET /v1/contacts/imports/{id}
        returns the progress. An invalid row does not affect the others. An existing status changes only if
        that does not override the contact's own choice. Emits subscriber.unsubscribed for each contact that
        becomes unsubscribed, and subscriber.bulk_imported once, when all rows have been processed.

        Args:
            file: The CSV file with a header row, encoded in UTF-8, UTF-16 with a byte order mark, or
                Windows-1252.
            project_id: The project to which the contacts are added.
            column_map: JSON that maps fields to headers. Keys: email (required), name, firstName, lastName,
                company, phone, city, country, language, tags, status, customFields {name: header}. If absent,
                the mapping is guessed from common headers, and unrecognized columns are ignored.
            on_conflict: `upsert` (the default) updates existing contacts with values from the file; `skip`
                leaves them unchanged.
            delimiter: The separator between cells: one ASCII character. The default is a comma. `\\t` is a
                tab.
            tags: Names of tags to add to every contact in the file, as a JSON array or separated by commas.
            status: The status for contacts whose row has no status. If absent, new contacts are subscribed.
            hold: Whether to store the file for a day without importing it; POST
                /v1/contacts/imports/{id}/start imports it. If `true`, the import's settings in this form are
                ignored.
        """
        return _t.cast("t.ImportStarted", await self._call(
            "POST",
            "/contacts/imports",
            {"file": file, "projectId": project_id, "columnMap": column_map, "onConflict": on_conflict, "delimiter": delimiter, "tags": tags, "status": status, "hold": hold},
            request_options,
            form=True,
        ))

    async def get(
        self,
        id: str,
        *,
        project_id: str | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.ImportProgress:
        """Get the progress of an import.

        Returns finished imports until 30 days after they end.

        Args:
            id: The ID of the import, as returned when the import was started.
            project_id: The import's project. Optional; if given, the import must belong to it.
        """
        return _t.cast("t.ImportProgress", await self._call(
            "GET",
            f"/contacts/imports/{path_part(id)}",
            {"projectId": project_id},
            request_options,
        ))

    def errors(
        self,
        id: str,
        *,
        project_id: str | Unset = UNSET,
        limit: int | Unset = UNSET,
        offset: int | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> AsyncList[t.ContactsImportsErrorsPage, t.ImportError]:
        """List the row errors of an import.

        Lists errors in the order of the rows. Only the first thousand are kept; the import's counts show how
        many rows failed.

        Args:
            id: The ID of the import, as returned when the import was started.
            project_id: The import's project. Optional; if given, the import must belong to it.
            offset: The number of errors to skip.
        """
        return self._list(
            f"/contacts/imports/{path_part(id)}/errors",
            "errors",
            "offset",
            {"projectId": project_id, "limit": limit, "offset": offset},
            request_options,
        )

    async def preview(
        self,
        id: str,
        *,
        project_id: str | Unset = UNSET,
        delimiter: str | Unset = UNSET,
        rows: int | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.ImportPreviewed:
        """Preview a file before its import.

        Previews an import whose file was uploaded with `hold`. Returns 409 once the import has started.

        Args:
            id: The ID of the import, as returned by the upload.
            project_id: The file's project. Optional; if given, the file must belong to it.
            delimiter: The separator between cells. If absent, it is detected. `\\t` is a tab.
            rows: The number of rows to return. The default is 5.
        """
        return _t.cast("t.ImportPreviewed", await self._call(
            "GET",
            f"/contacts/imports/{path_part(id)}/preview",
            {"projectId": project_id, "delimiter": delimiter, "rows": rows},
            request_options,
        ))

    async def start(
        self,
        id: str,
        *,
        project_id: str | None | Unset = UNSET,
        column_map: t.ColumnMapInput | None | Unset = UNSET,
        on_conflict: t.OnConflict | Unset = UNSET,
        delimiter: str | None | Unset = UNSET,
        tags: _b.list[str] | Unset = UNSET,
        status: t.ContactStatus | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.ImportStarted:
        """Import an uploaded file.

        Starts an import whose file was uploaded with `hold`. Starting the same import again returns 409.

        Args:
            id: The ID of the import, as returned by the upload.
            project_id: The file's project. Optional; if given, the file must belong to it.
            column_map: Maps contact fields to column headers. If absent, the mapping is guessed from common
                headers.
            on_conflict: What to do with contacts that already exist.
            delimiter: The separator between cells. If absent, it is detected. `\\t` is a tab.
            tags: Names of tags to add to every contact in the file.
            status: The status for rows that have no status. If absent, new contacts from such rows are
                subscribed.
        """
        return _t.cast("t.ImportStarted", await self._call(
            "POST",
            f"/contacts/imports/{path_part(id)}/start",
            {"projectId": project_id, "columnMap": column_map, "onConflict": on_conflict, "delimiter": delimiter, "tags": tags, "status": status},
            request_options,
            keyed=True,
        ))


class AsyncContactsExports(AsyncResource):
    _client: AsyncMailmill

    def __init__(self, client: AsyncMailmill) -> None:
        super().__init__(client)

    async def create(
        self,
        *,
        project_id: str,
        segment_id: str | None | Unset = UNSET,
        filters: t.ExportFilters | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.ExportView:
        """Export contacts to a CSV file.

        GET /v1/contacts/exports/{jobId} returns the status and, for one hour after the export is complete,
        the link to the file. An apostrophe is added before cells that a spreadsheet would interpret as
        formulas; imports remove the apostrophe.

        Args:
            segment_id: Exports only contacts in this segment.
            filters: Exports only contacts that match these filters.
        """
        return _t.cast("t.ExportView", await self._call(
            "POST",
            "/contacts/exports",
            {"projectId": project_id, "segmentId": segment_id, "filters": filters},
            request_options,
            keyed=True,
        ))

    async def get(
        self,
        job_id: str,
        *,
        project_id: str,
        request_options: CallOptions | None = None,
    ) -> t.ExportView:
        """Get the progress of an export.

        Once the file has been written, the response contains downloadUrl for one hour.

        Args:
            job_id: The job's ID, as returned when the export was started.
            project_id: The project of the export.
        """
        return _t.cast("t.ExportView", await self._call(
            "GET",
            f"/contacts/exports/{path_part(job_id)}",
            {"projectId": project_id},
            request_options,
        ))


class AsyncContactsJobs(AsyncResource):
    _client: AsyncMailmill

    def __init__(self, client: AsyncMailmill) -> None:
        super().__init__(client)

    async def list(
        self,
        *,
        project_id: str | Unset = UNSET,
        limit: int | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.ContactJobs:
        """List the newest imports, exports and bulk changes.

        Lists jobs in any state. Finished jobs are deleted 30 days after they end. Uploaded files whose import
        has not started are deleted after one day.

        Args:
            project_id: Returns only jobs in this project.
        """
        return _t.cast("t.ContactJobs", await self._call(
            "GET",
            "/contacts/jobs",
            {"projectId": project_id, "limit": limit},
            request_options,
        ))

    async def get(self, id: str, *, request_options: CallOptions | None = None) -> t.ContactJob:
        """Get the kind, project and status of a contacts job.

        Returns finished jobs until 30 days after they end. The operations for each kind of job return more
        details.

        Args:
            id: The job's ID, as returned when the job was started.
        """
        return _t.cast("t.ContactJob", await self._call(
            "GET",
            f"/contacts/jobs/{path_part(id)}",
            None,
            request_options,
        ))

    async def mark_seen(
        self,
        id: str,
        *,
        project_id: str | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.ContactJob:
        """Acknowledge a failed import, export or bulk change.

        The job stays in the list but no longer needs attention. Repeating the request changes nothing.

        Args:
            id: The ID of the import, as returned when the import was started.
            project_id: The import's project. Optional; if given, the import must belong to it.
        """
        return _t.cast("t.ContactJob", await self._call(
            "POST",
            f"/contacts/jobs/{path_part(id)}/seen",
            {"projectId": project_id},
            request_options,
        ))


class AsyncContacts(AsyncResource):
    _client: AsyncMailmill

    def __init__(self, client: AsyncMailmill) -> None:
        super().__init__(client)
        self.bulk = AsyncContactsBulk(client)
        self.bulk_changes = AsyncContactsBulkChanges(client)
        self.imports = AsyncContactsImports(client)
        self.exports = AsyncContactsExports(client)
        self.jobs = AsyncContactsJobs(client)

    def list(
        self,
        *,
        project_id: str,
        search: str | Unset = UNSET,
        refresh: bool | Unset = UNSET,
        status: t.ContactStatus | Unset = UNSET,
        tags: _b.list[str] | Unset = UNSET,
        segment_id: str | Unset = UNSET,
        created_after: str | Unset = UNSET,
        created_before: str | Unset = UNSET,
        updated_after: str | Unset = UNSET,
        updated_before: str | Unset = UNSET,
        sort_by: t.SortBy | Unset = UNSET,
        sort_order: t.SortOrder | Unset = UNSET,
        limit: int | Unset = UNSET,
        offset: int | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> AsyncList[t.ContactsListPage, t.ContactView]:
        """List and search contacts.

        All filters must match. Lists the newest first, unless a search ranks the contacts or sortBy is set. A
        search right after a write by the same key or session usually finds what was written; add refresh=true
        to find all earlier writes.

        Args:
            project_id: The project whose contacts are listed.
            search: Words to find in a contact's email, names, company, phone, city, tags and custom fields.
                Matches the beginnings of words and tolerates small typos.
            refresh: If true, a search waits until the search index contains every write that was completed
                before this request; if this takes more than 5 seconds, the response is 503. If false, a
                search waits up to 200 ms for the writes that the caller made in the last second. Has no
                effect without `search`.
            status: Returns only contacts with this status.
            tags: Returns only contacts that have at least one of these tags. Give tag names separated by
                commas, or as a JSON array if a name contains a comma.
            segment_id: Returns only contacts in this segment.
            created_after: Returns only contacts created at or after this time.
            created_before: Returns only contacts created before this time.
            updated_after: Returns only contacts last changed at or after this time.
            updated_before: Returns only contacts last changed before this time.
            sort_by: The field to sort by. If absent, a search returns the best match first.
            offset: The number of contacts to skip.
        """
        return self._list(
            "/contacts",
            "contacts",
            "offset",
            {"projectId": project_id, "search": search, "refresh": refresh, "status": status, "tags": tags, "segmentId": segment_id, "createdAfter": created_after, "createdBefore": created_before, "updatedAfter": updated_after, "updatedBefore": updated_before, "sortBy": sort_by, "sortOrder": sort_order, "limit": limit, "offset": offset},
            request_options,
        )

    async def create(
        self,
        *,
        project_id: str,
        email: str,
        first_name: str | None | Unset = UNSET,
        last_name: str | None | Unset = UNSET,
        company: str | None | Unset = UNSET,
        phone: str | None | Unset = UNSET,
        city: str | None | Unset = UNSET,
        country: str | None | Unset = UNSET,
        language: str | None | Unset = UNSET,
        tags: _b.list[str] | None | Unset = UNSET,
        custom_fields: dict[str, t.FieldValue] | None | Unset = UNSET,
        status: t.ContactStatus | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.ContactView:
        """Add a contact.

        Emits subscriber.added. Returns 409 if a contact in the project has this email; data.id is then the ID
        of that contact.

        Args:
            project_id: The ID of the contact's project.
            email: The contact's email. The contact keeps this spelling, without surrounding spaces. Unique in
                the project, ignoring case.
            company: The company or organization that the contact belongs to.
            phone: The phone number, as free-form text.
            city: The city or town.
            country: The country's ISO 3166-1 alpha-2 code.
            language: The language's ISO 639-1 code or BCP 47 tag.
            tags: Names of tags for the contact. Tags that do not exist are created.
            custom_fields: Any other data about the contact, by name.
            status: The contact's status. The default is `subscribed`.
        """
        return _t.cast("t.ContactView", await self._call(
            "POST",
            "/contacts",
            {"projectId": project_id, "email": email, "firstName": first_name, "lastName": last_name, "company": company, "phone": phone, "city": city, "country": country, "language": language, "tags": tags, "customFields": custom_fields, "status": status},
            request_options,
            keyed=True,
        ))

    async def get(
        self,
        id: str,
        *,
        project_id: str,
        request_options: CallOptions | None = None,
    ) -> t.ContactView:
        """Get a contact.

        Args:
            id: The contact's ID.
            project_id: The ID of the contact's project.
        """
        return _t.cast("t.ContactView", await self._call(
            "GET",
            f"/contacts/{path_part(id)}",
            {"projectId": project_id},
            request_options,
        ))

    async def update(
        self,
        id: str,
        *,
        project_id: str,
        first_name: str | None | Unset = UNSET,
        last_name: str | None | Unset = UNSET,
        company: str | None | Unset = UNSET,
        phone: str | None | Unset = UNSET,
        city: str | None | Unset = UNSET,
        country: str | None | Unset = UNSET,
        language: str | None | Unset = UNSET,
        tags: _b.list[str] | None | Unset = UNSET,
        custom_fields: dict[str, t.FieldValue] | None | Unset = UNSET,
        status: t.ContactStatus | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.ContactView:
        """Change a contact.

        Emits subscriber.updated, and subscriber.unsubscribed when the status becomes unsubscribed. An update
        that changes nothing emits no event.

        Args:
            id: The contact's ID.
            project_id: The ID of the contact's project.
            company: The company or organization that the contact belongs to.
            phone: The phone number, as free-form text.
            city: The city or town.
            country: The country's ISO 3166-1 alpha-2 code.
            language: The language's ISO 639-1 code or BCP 47 tag.
            tags: All tags that the contact should have. Tags that do not exist are created.
            custom_fields: Custom fields to merge: omitted fields stay unchanged, `null` removes a field, and
                an empty object removes all fields.
            status: The new status. Every change is allowed; for example, this can resubscribe a contact who
                unsubscribed or bounced.
        """
        return _t.cast("t.ContactView", await self._call(
            "PATCH",
            f"/contacts/{path_part(id)}",
            {"projectId": project_id, "firstName": first_name, "lastName": last_name, "company": company, "phone": phone, "city": city, "country": country, "language": language, "tags": tags, "customFields": custom_fields, "status": status},
            request_options,
        ))

    async def delete(
        self,
        id: str,
        *,
        project_id: str,
        request_options: CallOptions | None = None,
    ) -> t.DeletedContact:
        """Delete a contact.

        Emits subscriber.unsubscribed with action "deleted". Other data about the contact is erased in the
        background, usually within seconds: sent emails, activity, customer events, messages in the built-in
        inbox, pending webhook events, and responses kept for idempotent retries. Anonymous counts remain. If
        the contact had unsubscribed, bounced or complained, a keyed hash of its address remains too, so that
        it is not mailed again by mistake.

        Args:
            id: The contact's ID.
            project_id: The ID of the contact's project.
        """
        return _t.cast("t.DeletedContact", await self._call(
            "DELETE",
            f"/contacts/{path_part(id)}",
            {"projectId": project_id},
            request_options,
        ))

    async def get_project(self, id: str, *, request_options: CallOptions | None = None) -> t.OwningProject:
        """Get the project of a contact.

        All other operations on a single contact also require the project ID, so store both IDs instead of
        calling this operation each time.

        Args:
            id: The contact's ID.
        """
        return _t.cast("t.OwningProject", await self._call(
            "GET",
            f"/contacts/{path_part(id)}/project",
            None,
            request_options,
        ))

    async def field_catalog(
        self,
        project_id: str,
        *,
        segment_id: str | Unset = UNSET,
        tag: str | Unset = UNSET,
        examine: int | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.FieldCatalog:
        """List the contact fields.

        Examines at most the newest 50,000 contacts of the project, segment or tag.

        Args:
            segment_id: Examines only contacts in this segment.
            tag: Examines only contacts that have the tag with this name.
            examine: The maximum number of contacts to examine, newest first. The default is 50,000.
        """
        return _t.cast("t.FieldCatalog", await self._call(
            "GET",
            f"/projects/{path_part(project_id)}/field-catalog",
            {"segmentId": segment_id, "tag": tag, "examine": examine},
            request_options,
        ))

    async def set_status(
        self,
        *,
        project_id: str,
        email: str,
        status: t.ContactStatus,
        all_lists: bool | None | Unset = UNSET,
        tags: _b.list[str] | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.StatusChangeResult:
        """Change a contact's status.

        Every change of the status is allowed; for example, this can resubscribe a contact who unsubscribed or
        bounced. Emits subscriber.unsubscribed with action "status_changed" when the contact becomes
        unsubscribed, and with action "tags_left" when only tags are removed; no other change emits an event.

        Args:
            project_id: The ID of the contact's project.
            email: The contact's email.
            all_lists: If true, or if both this and `tags` are absent, changes the contact's status.
                Otherwise, adds `tags` to the contact if `status` is `subscribed`, and removes them from the
                contact if not.
            tags: Names of tags to add or remove instead of changing the status.
        """
        return _t.cast("t.StatusChangeResult", await self._call(
            "POST",
            "/contacts/status",
            {"projectId": project_id, "email": email, "status": status, "allLists": all_lists, "tags": tags},
            request_options,
        ))

    async def unsubscribe(
        self,
        *,
        email: str,
        project_id: str,
        all_lists: bool | None | Unset = UNSET,
        tags: _b.list[str] | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.StatusChangeResult:
        """Unsubscribe a contact.

        Emits subscriber.unsubscribed with action "unsubscribed", or "tags_left" if only tags are removed.
        Repeating the request changes nothing and emits no event.

        The token of a signed-in user is accepted in place of a key, with the permissions of the user's role.

        Args:
            email: The contact's email.
            project_id: The ID of the contact's project.
            all_lists: If true or absent, unsubscribes the contact from all mail except transactional
                messages. If false, only removes `tags` from the contact.
            tags: Names of tags to remove when `allLists` is false.
        """
        return _t.cast("t.StatusChangeResult", await self._call(
            "POST",
            "/subscribers/unsubscribe",
            {"email": email, "projectId": project_id, "allLists": all_lists, "tags": tags},
            request_options,
        ))

    async def bulk_delete(
        self,
        *,
        project_id: str,
        emails: _b.list[str],
        request_options: CallOptions | None = None,
    ) -> t.DeletedContacts:
        """Delete contacts by email.

        Emits subscriber.unsubscribed with action "deleted" for each deleted contact.

        Args:
            project_id: The project of the contacts.
            emails: The emails of 1 to 1,000 contacts.
        """
        return _t.cast("t.DeletedContacts", await self._call(
            "POST",
            "/contacts/bulk-delete",
            {"projectId": project_id, "emails": emails},
            request_options,
            keyed=True,
        ))

    def events(
        self,
        id: str,
        *,
        project_id: str,
        limit: int | Unset = UNSET,
        cursor: str | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> AsyncList[t.CustomerEventPart, t.CustomerEvent]:
        """List the events of a contact.

        Returns the contact's customer events, newest first by time of occurrence. Events are kept for 90
        days.

        Args:
            id: The contact's ID.
            project_id: The ID of the contact's project.
            cursor: The `nextCursor` of the previous page.
        """
        return self._list(
            f"/contacts/{path_part(id)}/events",
            "events",
            "cursor",
            {"projectId": project_id, "limit": limit, "cursor": cursor},
            request_options,
        )

    async def topics(
        self,
        id: str,
        *,
        project_id: str,
        request_options: CallOptions | None = None,
    ) -> t.TopicChoices:
        """List a contact's topic subscriptions.

        Returns every topic in the project, including inactive topics.

        Args:
            id: The contact's ID.
            project_id: The ID of the contact's project.
        """
        return _t.cast("t.TopicChoices", await self._call(
            "GET",
            f"/contacts/{path_part(id)}/topics",
            {"projectId": project_id},
            request_options,
        ))

    async def personal_data(
        self,
        id: str,
        *,
        project_id: str,
        request_options: CallOptions | None = None,
    ) -> t.PersonalData:
        """Export all data about a contact.

        Returns the data for a data access request: the contact's profile and tags, topics, sent messages with
        opens and clicks, customer events of the last 90 days, payments, and why the address is suppressed, if
        it is.

        Args:
            id: The contact's ID.
            project_id: The ID of the contact's project.
        """
        return _t.cast("t.PersonalData", await self._call(
            "GET",
            f"/contacts/{path_part(id)}/personal-data",
            {"projectId": project_id},
            request_options,
        ))

    def timeline(
        self,
        id: str,
        *,
        project_id: str,
        limit: int | Unset = UNSET,
        cursor: str | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> AsyncList[t.TimelinePart, t.TimelineEntry]:
        """Get the timeline of a contact.

        Lists, newest first: messages, bounces, complaints, unsubscribes, customer events, and opens and
        clicks by people. For a contact with very many messages, bounces and complaints are listed only for
        the newest 500.

        Args:
            id: The contact's ID.
            project_id: The ID of the contact's project.
            cursor: The `nextCursor` of the previous response.
        """
        return self._list(
            f"/contacts/{path_part(id)}/timeline",
            "entries",
            "cursor",
            {"projectId": project_id, "limit": limit, "cursor": cursor},
            request_options,
        )

    async def import_and_wait(
        self,
        *,
        file: AsyncUpload,
        project_id: str,
        column_map: str | collections.abc.Mapping[str, _t.Any] | Unset = UNSET,
        on_conflict: _t.Literal["upsert", "skip"] | Unset = UNSET,
        delimiter: str | Unset = UNSET,
        tags: str | _b.list[str] | Unset = UNSET,
        status: t.ContactStatus | Unset = UNSET,
        hold: bool | Unset = UNSET,
        on_progress: collections.abc.Callable[[t.ImportProgress], object] | None = None,
        poll_interval: float = 2.0,
        wait_timeout: float = 600.0,
        request_options: CallOptions | None = None,
    ) -> t.ImportProgress:
        """Import contacts from a CSV file, and wait until the job has ended.

        Args:
            file: The CSV file with a header row, encoded in UTF-8, UTF-16 with a byte order mark, or
                Windows-1252.
            project_id: The project to which the contacts are added.
            column_map: JSON that maps fields to headers. Keys: email (required), name, firstName, lastName,
                company, phone, city, country, language, tags, status, customFields {name: header}. If absent,
                the mapping is guessed from common headers, and unrecognized columns are ignored.
            on_conflict: `upsert` (the default) updates existing contacts with values from the file; `skip`
                leaves them unchanged.
            delimiter: The separator between cells: one ASCII character. The default is a comma. `\\t` is a
                tab.
            tags: Names of tags to add to every contact in the file, as a JSON array or separated by commas.
            status: The status for contacts whose row has no status. If absent, new contacts are subscribed.
            hold: Whether to store the file for a day without importing it; POST
                /v1/contacts/imports/{id}/start imports it. If `true`, the import's settings in this form are
                ignored.
            on_progress: Receives each status that the job reports.
            poll_interval: The seconds between two requests for the status.
            wait_timeout: The seconds that the job may take. The job continues on the server after that.

        Raises:
            JobFailedError: The job failed.
        """
        job = Job(
            ("completed", "uploaded",),
            ("failed",),
            (),
            on_progress,
            poll_interval,
            wait_timeout,
            request_options,
        )
        started = await self._client.contacts.imports.create(
            file=file,
            project_id=project_id,
            column_map=column_map,
            on_conflict=on_conflict,
            delimiter=delimiter,
            tags=tags,
            status=status,
            hold=hold,
            request_options=request_options,
        )
        return await self._wait(
            started,
            lambda started, options: self._client.contacts.imports.get(started["id"], request_options=options),
            job,
        )

    async def export_and_wait(
        self,
        *,
        project_id: str,
        segment_id: str | None | Unset = UNSET,
        filters: t.ExportFilters | None | Unset = UNSET,
        on_progress: collections.abc.Callable[[t.ExportView], object] | None = None,
        poll_interval: float = 2.0,
        wait_timeout: float = 600.0,
        request_options: CallOptions | None = None,
    ) -> t.CompletedExportView:
        """Export contacts to a CSV file, and wait until the job has ended.

        Args:
            segment_id: Exports only contacts in this segment.
            filters: Exports only contacts that match these filters.
            on_progress: Receives each status that the job reports.
            poll_interval: The seconds between two requests for the status.
            wait_timeout: The seconds that the job may take. The job continues on the server after that.

        Raises:
            JobFailedError: The job failed.
        """
        job = Job(
            ("completed",),
            ("failed",),
            ("downloadUrl",),
            on_progress,
            poll_interval,
            wait_timeout,
            request_options,
        )
        started = await self._client.contacts.exports.create(
            project_id=project_id,
            segment_id=segment_id,
            filters=filters,
            request_options=request_options,
        )
        return _t.cast("t.CompletedExportView", await self._wait(
            started,
            lambda started, options: self._client.contacts.exports.get(started["jobId"], project_id=project_id, request_options=options),
            job,
        ))


class AsyncConnections(AsyncResource):
    _client: AsyncMailmill

    def __init__(self, client: AsyncMailmill) -> None:
        super().__init__(client)

    async def list(
        self,
        *,
        provider: t.ConnectionProvider | Unset = UNSET,
        project_id: str | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.ConnectionList:
        """List connections to other platforms.

        Returns the connections with their status, without keys and tokens.

        Args:
            provider: Returns only connections to this provider.
            project_id: Returns only connections that this project can use.
        """
        return _t.cast("t.ConnectionList", await self._call(
            "GET",
            "/connections",
            {"provider": provider, "projectId": project_id},
            request_options,
        ))

    async def delete(
        self,
        *,
        connection_id: str,
        request_options: CallOptions | None = None,
    ) -> t.RemovedConnection:
        """Remove a connection.

        Deletes the stored key or tokens. Asks Klaviyo or HubSpot to revoke tokens, unless sending is on hold;
        `revoked` is true if they were revoked. Imports that use the connection fail; imported contacts are
        kept. An API key stays valid until you revoke it on the platform.
        """
        return _t.cast("t.RemovedConnection", await self._call(
            "DELETE",
            "/connections",
            {"connectionId": connection_id},
            request_options,
        ))

    async def create(
        self,
        provider: t.ConnectionProvider,
        *,
        api_key: str,
        name: str | None | Unset = UNSET,
        project_id: str | None | Unset = UNSET,
        connection_id: str | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.ConnectionView:
        """Connect an account on another platform.

        Tests the key with the platform before it is stored. If the account is already connected for the same
        project, or if connectionId names its connection, the operation replaces the key and resumes imports
        that are waiting for the connection. The key needs only these scopes: for Klaviyo `accounts:read`,
        `lists:read`, `segments:read` and `profiles:read`; for HubSpot `crm.lists.read`,
        `crm.objects.contacts.read` and `communication_preferences.statuses.batch.read`. For exports, also:
        for Klaviyo `templates:read`, `templates:write`, `images:read` and `images:write`; for HubSpot
        `content` and `files`.

        Args:
            api_key: The account's private API key: for Klaviyo a key that starts with pk_, for Mailchimp a
                key that ends with its data center, for HubSpot the access token of a private app. It is
                stored encrypted and never shown again.
            name: A name for the connection. If absent, a connection to reconnect keeps its name, and a new
                connection gets the account's name on the platform.
            project_id: The only project that can use the connection. If absent, every project of the account
                can.
            connection_id: The connection to reconnect. The key must belong to the same account. The
                connection's project does not change.
        """
        return _t.cast("t.ConnectionView", await self._call(
            "POST",
            f"/connections/{path_part(provider)}",
            {"apiKey": api_key, "name": name, "projectId": project_id, "connectionId": connection_id},
            request_options,
            keyed=True,
        ))

    async def authorize(
        self,
        provider: t.ConnectionProvider,
        *,
        name: str | None | Unset = UNSET,
        project_id: str | None | Unset = UNSET,
        connection_id: str | None | Unset = UNSET,
        uses: _b.list[t.ConnectionUse] | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.SignInPage:
        """Start a sign-in to another platform.

        Returns the URL of the platform's page on which the signed-in user allows access (OAuth 2). The
        platform then sends the user back to Mailmill, which connects the account. Needs a client ID and
        secret in the settings; without them, connect the account with an API key.

        Args:
            name: A name for the connection. If absent, a connection to reconnect keeps its name, and a new
                connection gets the account's name on the platform.
            project_id: The only project that can use the connection. If absent, every project of the account
                can.
            connection_id: The connection to reconnect. The user must sign in to the same account on the
                platform.
            uses: What the connection may do. The user is asked only for the scopes of these uses. If absent,
                a connection to reconnect keeps its uses, and a new connection gets `imports`.
        """
        return _t.cast("t.SignInPage", await self._call(
            "POST",
            f"/connections/{path_part(provider)}/authorize",
            {"name": name, "projectId": project_id, "connectionId": connection_id, "uses": uses},
            request_options,
        ))

    async def complete(
        self,
        provider: t.ConnectionProvider,
        *,
        code: str,
        state: str,
        request_options: CallOptions | None = None,
    ) -> t.ConnectionView:
        """Complete a sign-in to another platform.

        Connects the account that the user signed in to, or reconnects it, and resumes imports that are
        waiting for it. Only the session that started the sign-in can complete it, within ten minutes. A
        second call returns the connection and changes nothing. The dashboard calls this operation when the
        user returns.

        Args:
            code: The authorization code, which works once.
            state: The `state` parameter, unchanged.
        """
        return _t.cast("t.ConnectionView", await self._call(
            "POST",
            f"/connections/{path_part(provider)}/complete",
            {"code": code, "state": state},
            request_options,
        ))

    async def sources(
        self,
        provider: t.ConnectionProvider,
        *,
        project_id: str,
        connection_id: str | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.ImportSources:
        """List the import sources of a platform.

        Returns the lists, segments, tags and audiences of the connected account, with their sizes if the
        platform reports them.

        Args:
            project_id: The project into which the contacts would be imported.
            connection_id: The connection to use. Required if the brand can use several connections to the
                provider.
        """
        return _t.cast("t.ImportSources", await self._call(
            "GET",
            f"/contacts/imports/providers/{path_part(provider)}/sources",
            {"projectId": project_id, "connectionId": connection_id},
            request_options,
        ))

    async def preview_import(
        self,
        *,
        provider: t.ConnectionProvider,
        project_id: str,
        sources: _b.list[t.SourceRef],
        consent_mode: t.ConsentMode | Unset = UNSET,
        connection_id: str | None | Unset = UNSET,
        field_map: dict[str, str | None] | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.ImportPreview:
        """Preview an import from a platform.

        Reads up to 2,000 contacts from the sources, and returns their fields and what the import would
        change. No contact is changed. The tags that the import adds are not counted as changes.

        Args:
            project_id: The project to which the contacts would be added.
            sources: The sources, as `GET /v1/contacts/imports/providers/{provider}/sources` lists them.
            consent_mode: Which contacts without recorded consent would be imported.
            connection_id: The connection to use. Required if the brand can use several connections to the
                provider.
            field_map: Maps the platform's fields to contact fields, as in the import.
        """
        return _t.cast("t.ImportPreview", await self._call(
            "POST",
            "/contacts/imports/provider/preview",
            {"provider": provider, "projectId": project_id, "sources": sources, "consentMode": consent_mode, "connectionId": connection_id, "fieldMap": field_map},
            request_options,
        ))

    async def import_contacts(
        self,
        *,
        provider: t.ConnectionProvider,
        project_id: str,
        sources: _b.list[t.SourceRef],
        consent_mode: t.ConsentMode | Unset = UNSET,
        connection_id: str | None | Unset = UNSET,
        field_map: dict[str, str | None] | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.ProviderImportStarted:
        """Import contacts from a platform.

        Returns once the import is stored; GET /v1/contacts/imports/{id} returns the progress. The import
        reads each source page by page, continues after a restart, and is paused while the platform is rate
        limiting the account or the connection must be reconnected. An existing status changes only if that
        does not override the contact's own choice. Emits subscriber.unsubscribed for each contact that
        becomes unsubscribed, and subscriber.bulk_imported once, when all contacts have been processed.

        Args:
            project_id: The project to which the contacts are added.
            sources: The sources to import, as `GET /v1/contacts/imports/providers/{provider}/sources` lists
                them.
            consent_mode: Which contacts without recorded consent are imported. Unsubscribed and suppressed
                contacts are always imported, with that status.
            connection_id: The connection to use. Required if the brand can use several connections to the
                provider.
            field_map: The platform's fields to map, each with its contact field: a profile field,
                `customFields.NAME`, or null to leave the field out. All other fields are imported with the
                default mapping. The import preview lists the fields.
        """
        return _t.cast("t.ProviderImportStarted", await self._call(
            "POST",
            "/contacts/imports/provider",
            {"provider": provider, "projectId": project_id, "sources": sources, "consentMode": consent_mode, "connectionId": connection_id, "fieldMap": field_map},
            request_options,
            keyed=True,
        ))

    async def import_and_wait(
        self,
        *,
        provider: t.ConnectionProvider,
        project_id: str,
        sources: _b.list[t.SourceRef],
        consent_mode: t.ConsentMode | Unset = UNSET,
        connection_id: str | None | Unset = UNSET,
        field_map: dict[str, str | None] | Unset = UNSET,
        on_progress: collections.abc.Callable[[t.ImportProgress], object] | None = None,
        poll_interval: float = 2.0,
        wait_timeout: float = 600.0,
        request_options: CallOptions | None = None,
    ) -> t.ImportProgress:
        """Import contacts from a platform, and wait until the job has ended.

        Args:
            project_id: The project to which the contacts are added.
            sources: The sources to import, as `GET /v1/contacts/imports/providers/{provider}/sources` lists
                them.
            consent_mode: Which contacts without recorded consent are imported. Unsubscribed and suppressed
                contacts are always imported, with that status.
            connection_id: The connection to use. Required if the brand can use several connections to the
                provider.
            field_map: The platform's fields to map, each with its contact field: a profile field,
                `customFields.NAME`, or null to leave the field out. All other fields are imported with the
                default mapping. The import preview lists the fields.
            on_progress: Receives each status that the job reports.
            poll_interval: The seconds between two requests for the status.
            wait_timeout: The seconds that the job may take. The job continues on the server after that.

        Raises:
            JobFailedError: The job failed.
        """
        job = Job(
            ("completed", "uploaded",),
            ("failed",),
            (),
            on_progress,
            poll_interval,
            wait_timeout,
            request_options,
        )
        started = await self._client.connections.import_contacts(
            provider=provider,
            project_id=project_id,
            sources=sources,
            consent_mode=consent_mode,
            connection_id=connection_id,
            field_map=field_map,
            request_options=request_options,
        )
        return await self._wait(
            started,
            lambda started, options: self._client.contacts.imports.get(started["id"], request_options=options),
            job,
        )


class AsyncStorefront(AsyncResource):
    _client: AsyncMailmill

    def __init__(self, client: AsyncMailmill) -> None:
        super().__init__(client)

    async def connect(
        self,
        *,
        project_id: str,
        storefront_store_url: str,
        client_id: str | None | Unset = UNSET,
        access_token: str | None | Unset = UNSET,
        api_secret: str | None | Unset = UNSET,
        consumer_key: str | None | Unset = UNSET,
        consumer_secret: str | None | Unset = UNSET,
        customers: t.StoreCustomers | None | Unset = UNSET,
        connection_id: str | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.StorefrontConnection:
        """Connect a store to a project.

        With keys, tests them with the store, stores them encrypted, and starts the import; this also needs
        the permission project:write. Keys replace those of a store that is already connected to the project.
        Without keys, connects a store that is already connected to another project of the account, with the
        same keys. An app in Shopify needs the scope read_products; with read_orders, orders become customer
        events, and with read_customers, customers are imported.

        Args:
            project_id: The ID of the project to which the products and customers are added.
            storefront_store_url: The store's URL: for Shopify, the myshopify.com domain; for WooCommerce, the
                URL of the site.
            client_id: Shopify: the client ID of an app in the Dev Dashboard that is installed on the store.
                Mailmill requests access tokens with it.
            access_token: Shopify, instead of a client ID: the Admin API access token of an app that was
                created in the Shopify admin before 2026.
            api_secret: Shopify: the client secret of the same app, with which Shopify signs webhooks. It is
                stored encrypted and never shown again, like all keys.
            consumer_key: WooCommerce: the consumer key of a REST API key with the permission Read/Write.
            consumer_secret: WooCommerce: the consumer secret of the same key.
            customers: Which customers are imported. If absent, a store that was connected before keeps its
                setting, and a new store gets `subscribed-only`.
            connection_id: The ID of the connected store whose keys are used if the request contains no keys.
                Required if the store is connected to several other projects.
        """
        return _t.cast("t.StorefrontConnection", await self._call(
            "POST",
            "/storefront/connect",
            {"projectId": project_id, "storefrontStoreUrl": storefront_store_url, "clientId": client_id, "accessToken": access_token, "apiSecret": api_secret, "consumerKey": consumer_key, "consumerSecret": consumer_secret, "customers": customers, "connectionId": connection_id},
            request_options,
            keyed=True,
        ))

    async def authorize(
        self,
        *,
        project_id: str,
        storefront_store_url: str,
        customers: t.StoreCustomers | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.InstallPage:
        """Start the installation of the app on a Shopify store.

        Returns the URL of the shop's page on which the signed-in user installs this server's Shopify app
        (OAuth 2, authorization code grant with an offline token). Shopify then sends the user back to
        Mailmill, which connects the store. Needs a client ID and secret of a Shopify app in the settings;
        without them, connect the store with its own app or token.

        Args:
            project_id: The ID of the project to which the products and customers are added.
            storefront_store_url: The shop's myshopify.com domain.
            customers: Which customers are imported. If absent, a store that was connected before keeps its
                setting, and a new store gets `subscribed-only`.
        """
        return _t.cast("t.InstallPage", await self._call(
            "POST",
            "/storefront/authorize",
            {"projectId": project_id, "storefrontStoreUrl": storefront_store_url, "customers": customers},
            request_options,
        ))

    async def complete(
        self,
        *,
        query: str,
        request_options: CallOptions | None = None,
    ) -> t.StorefrontConnection:
        """Complete the installation of the app on a Shopify store.

        Checks Shopify's signature (hmac) and the state, exchanges the code for an offline token, stores it
        encrypted, and starts the import. Only the session that started the installation can complete it,
        within ten minutes. A second call returns the connected store. The dashboard calls this operation when
        the user returns.

        Args:
            query: The complete, unchanged query of the URL to which Shopify redirected the user. Shopify
                signs the parameters in the query.
        """
        return _t.cast("t.StorefrontConnection", await self._call(
            "POST",
            "/storefront/complete",
            {"query": query},
            request_options,
        ))

    async def list(
        self,
        *,
        provider: t.StorePlatform | Unset = UNSET,
        project_id: str | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.StoreList:
        """List connected stores.

        Returns the connected stores with the state of their imports, and the disconnected stores whose
        customers requested their data. The keys are not returned.

        Args:
            provider: Return only stores on this platform.
            project_id: Return only stores of the project with this ID.
        """
        return _t.cast("t.StoreList", await self._call(
            "GET",
            "/storefront/stores",
            {"provider": provider, "projectId": project_id},
            request_options,
        ))

    async def sync(self, server_id: str, *, request_options: CallOptions | None = None) -> t.ConnectedStore:
        """Import a store again.

        Starts an import of the products, and of the customers unless they are excluded. If an import is
        running, the new one starts after it. Imports also start once a day.

        Args:
            server_id: The ID of the connected store.
        """
        return _t.cast("t.ConnectedStore", await self._call(
            "POST",
            f"/storefront/stores/{path_part(server_id)}/sync",
            None,
            request_options,
            keyed=True,
        ))

    async def disconnect(
        self,
        server_id: str,
        *,
        request_options: CallOptions | None = None,
    ) -> t.DisconnectedStore:
        """Disconnect a store.

        Deletes the stored keys, and removes the webhooks at the store if it can be reached. Imported products
        and contacts are kept. The keys themselves stay valid until you revoke them on the platform. Mailmill
        still answers Shopify's privacy requests about the store, until Shopify requests the erasure of the
        store's data or for at most 200 days, and therefore keeps the secret that signs these requests.

        Args:
            server_id: The ID of the connected store.
        """
        return _t.cast("t.DisconnectedStore", await self._call(
            "DELETE",
            f"/storefront/stores/{path_part(server_id)}",
            None,
            request_options,
        ))


class AsyncEvents(AsyncResource):
    _client: AsyncMailmill

    def __init__(self, client: AsyncMailmill) -> None:
        super().__init__(client)

    async def record(
        self,
        *,
        project_id: str,
        name: str,
        identifiers: t.EventIdentifiers,
        profile: t.ContactProfile | None | Unset = UNSET,
        properties: dict[str, _t.Any] | None | Unset = UNSET,
        occurred_at: str | None | Unset = UNSET,
        dedupe_key: str | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.RecordedEvent:
        """Record a customer event.

        The service stores the event with its contact for 90 days. An event with externalOrderId and a number
        in properties.value is a conversion: it counts once per order, for the email that the contact last
        clicked in the five days before occurredAt. The amount of an event whose name contains refund,
        cancelled or canceled is a refund and is subtracted in full: from the email that its order is credited
        to or, if the service knows no payment with its externalOrderId, from the email of the contact's last
        credited order. A refund may arrive before its order. Two equal refunds with the same occurredAt count
        once, unless each has its own dedupeKey. Events never change whether a contact may be mailed. If an
        event adds a contact or changes a profile, no webhook event is emitted.

        Args:
            project_id: The project to record the event in.
            name: The event name, such as `purchase.completed`. If the name contains `refund`, `cancelled` or
                `canceled`, in uppercase or lowercase, the amount is treated as negative.
            profile: Current data about the contact, in the same form as when updating a contact. Never
                changes the contact's status.
            properties: The event's properties: at most 16 KB of JSON, 50 top-level properties, and 4 levels
                of objects and lists. The property `value` is an amount in major units, and `currency` is the
                ISO 4217 code of its currency. The default currency is USD.
            occurred_at: When the event occurred: at most 90 days ago, and at most 5 minutes ahead of the
                service's clock. The default is the current time. A time without an offset is in UTC.
            dedupe_key: A key that identifies the event. A project stores only the first event with a given
                key, until that event is deleted.
        """
        return _t.cast("t.RecordedEvent", await self._call(
            "POST",
            "/events",
            {"projectId": project_id, "name": name, "identifiers": identifiers, "profile": profile, "properties": properties, "occurredAt": occurred_at, "dedupeKey": dedupe_key},
            request_options,
            keyed=True,
        ))

    async def record_batch(
        self,
        *,
        project_id: str,
        events: _b.list[t.EventRow],
        request_options: CallOptions | None = None,
    ) -> t.RecordedEvents:
        """Record up to 500 customer events.

        Events are processed in order, each like a single event. Set a dedupeKey on each event, so that
        repeating a batch stores no event twice. Idempotency-Key is not supported.

        Args:
            project_id: The project to record the events in.
            events: 1 to 500 events, each in the same form as when recording a single event, but without
                projectId. An invalid event is reported in the response and does not affect the other events.
        """
        return _t.cast("t.RecordedEvents", await self._call(
            "POST",
            "/events/batch",
            {"projectId": project_id, "events": events},
            request_options,
        ))

    async def names(
        self,
        project_id: str,
        *,
        limit: int | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.EventNames:
        """List event names.

        Returns the event names that segments can filter by. A name stays in the list even after its events
        have been deleted.

        Args:
            project_id: The project that the events were reported to.
        """
        return _t.cast("t.EventNames", await self._call(
            "GET",
            f"/projects/{path_part(project_id)}/event-names",
            {"limit": limit},
            request_options,
        ))


class AsyncTags(AsyncResource):
    _client: AsyncMailmill

    def __init__(self, client: AsyncMailmill) -> None:
        super().__init__(client)

    def list(
        self,
        *,
        project_id: str,
        search: str | Unset = UNSET,
        sort_by: t.TagSortBy | Unset = UNSET,
        sort_order: t.SortOrder | Unset = UNSET,
        limit: int | Unset = UNSET,
        offset: int | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> AsyncList[t.TagsListPage, t.TagView]:
        """List tags.

        Lists tags. By default, sortBy is createdAt and sortOrder is desc, so the newest tag is first. With
        sortBy=name alone, names are sorted from Z to A.

        Args:
            project_id: The ID of the project whose tags are listed.
            search: Return only tags whose name contains this string, ignoring case.
            offset: The number of tags to skip.
        """
        return self._list(
            "/tags",
            "tags",
            "offset",
            {"projectId": project_id, "search": search, "sortBy": sort_by, "sortOrder": sort_order, "limit": limit, "offset": offset},
            request_options,
        )

    async def create(
        self,
        *,
        project_id: str,
        name: str,
        color: str | None | Unset = UNSET,
        description: str | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.TagView:
        """Create a tag.

        Adding a new tag to a contact also creates the tag. Returns 409 if a tag in the project has this name;
        data.id is then the ID of that tag.

        Args:
            project_id: The ID of the tag's project.
            name: The name of the tag. Unique in the project, ignoring case.
            color: The tag's color as `#RRGGBB`.
            description: A description of the tag's purpose.
        """
        return _t.cast("t.TagView", await self._call(
            "POST",
            "/tags",
            {"projectId": project_id, "name": name, "color": color, "description": description},
            request_options,
            keyed=True,
        ))

    async def get(
        self,
        id: str,
        *,
        project_id: str,
        request_options: CallOptions | None = None,
    ) -> t.TagView:
        """Get a tag.

        Args:
            id: The tag's ID.
            project_id: The ID of the tag's project.
        """
        return _t.cast("t.TagView", await self._call(
            "GET",
            f"/tags/{path_part(id)}",
            {"projectId": project_id},
            request_options,
        ))

    async def update(
        self,
        id: str,
        *,
        project_id: str,
        name: str | None | Unset = UNSET,
        color: str | None | Unset = UNSET,
        description: str | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.TagView:
        """Change a tag.

        Contacts keep a renamed tag, and searches find them by its new name.

        Args:
            id: The tag's ID.
            project_id: The ID of the tag's project.
            name: The new name of the tag. Unique in the project, ignoring case.
            color: The tag's color as `#RRGGBB`.
            description: A description of the tag's purpose.
        """
        return _t.cast("t.TagView", await self._call(
            "PATCH",
            f"/tags/{path_part(id)}",
            {"projectId": project_id, "name": name, "color": color, "description": description},
            request_options,
        ))

    async def delete(
        self,
        id: str,
        *,
        project_id: str,
        request_options: CallOptions | None = None,
    ) -> t.DeletedTag:
        """Delete a tag.

        The tag is removed from its contacts, which are kept. In segments that filter by the tag, no contact
        has it anymore.

        Args:
            id: The tag's ID.
            project_id: The ID of the tag's project.
        """
        return _t.cast("t.DeletedTag", await self._call(
            "DELETE",
            f"/tags/{path_part(id)}",
            {"projectId": project_id},
            request_options,
        ))


class AsyncTopics(AsyncResource):
    _client: AsyncMailmill

    def __init__(self, client: AsyncMailmill) -> None:
        super().__init__(client)

    def list(
        self,
        *,
        project_id: str,
        include_inactive: bool | Unset = UNSET,
        limit: int | Unset = UNSET,
        offset: int | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> AsyncList[t.TopicsListPage, t.TopicView]:
        """List topics.

        Topics are ordered by displayOrder, then by name.

        Args:
            project_id: The ID of the project whose topics are listed.
            include_inactive: Whether to include inactive topics.
            offset: The number of topics to skip.
        """
        return self._list(
            "/topics",
            "topics",
            "offset",
            {"projectId": project_id, "includeInactive": include_inactive, "limit": limit, "offset": offset},
            request_options,
        )

    async def create(
        self,
        *,
        project_id: str,
        name: str,
        description: str | None | Unset = UNSET,
        default_subscription: t.TopicDefault | Unset = UNSET,
        visibility: t.TopicVisibility | Unset = UNSET,
        display_order: int | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.TopicView:
        """Create a topic.

        Returns 409 if a topic in the project has this name; data.id is then the ID of that topic.

        Args:
            project_id: The ID of the topic's project.
            name: The name of the topic. Unique in the project, ignoring case.
            description: The description that is shown to contacts.
            default_subscription: Whether contacts who have neither opted in nor opted out are subscribed to
                the topic. The default is `opt_out`.
            visibility: Which contacts see the topic. The default is `private`.
            display_order: The position of the topic in lists. The topic with the smallest position comes
                first. If absent, the topic comes last.
        """
        return _t.cast("t.TopicView", await self._call(
            "POST",
            "/topics",
            {"projectId": project_id, "name": name, "description": description, "defaultSubscription": default_subscription, "visibility": visibility, "displayOrder": display_order},
            request_options,
            keyed=True,
        ))

    async def get(
        self,
        id: str,
        *,
        project_id: str,
        request_options: CallOptions | None = None,
    ) -> t.TopicView:
        """Get a topic.

        Args:
            id: The topic's ID.
            project_id: The ID of the topic's project.
        """
        return _t.cast("t.TopicView", await self._call(
            "GET",
            f"/topics/{path_part(id)}",
            {"projectId": project_id},
            request_options,
        ))

    async def update(
        self,
        id: str,
        *,
        project_id: str,
        name: str | None | Unset = UNSET,
        description: str | None | Unset = UNSET,
        default_subscription: t.TopicDefault | None | Unset = UNSET,
        visibility: t.TopicVisibility | None | Unset = UNSET,
        display_order: int | None | Unset = UNSET,
        is_active: bool | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.TopicView:
        """Change a topic.

        A new default applies to contacts who have not made a choice. Explicit choices do not change.

        Args:
            id: The topic's ID.
            project_id: The ID of the topic's project.
            name: The new name of the topic. Unique in the project, ignoring case.
            description: The description that is shown to contacts.
            default_subscription: Whether contacts who have neither opted in nor opted out are subscribed to
                the topic.
            visibility: Which contacts see the topic.
            display_order: The position of the topic in lists. The topic with the smallest position comes
                first.
            is_active: Whether the topic is active. An inactive topic is not shown on the preferences page,
                and is listed only if the request sets `includeInactive`.
        """
        return _t.cast("t.TopicView", await self._call(
            "PATCH",
            f"/topics/{path_part(id)}",
            {"projectId": project_id, "name": name, "description": description, "defaultSubscription": default_subscription, "visibility": visibility, "displayOrder": display_order, "isActive": is_active},
            request_options,
        ))

    async def delete(
        self,
        id: str,
        *,
        project_id: str,
        request_options: CallOptions | None = None,
    ) -> t.DeletedTopic:
        """Delete a topic.

        Also deletes the contacts' choices for this topic. To keep the choices, set isActive to false instead.

        Args:
            id: The topic's ID.
            project_id: The ID of the topic's project.
        """
        return _t.cast("t.DeletedTopic", await self._call(
            "DELETE",
            f"/topics/{path_part(id)}",
            {"projectId": project_id},
            request_options,
        ))

    async def subscribe(
        self,
        id: str,
        *,
        subscriber_id: str,
        project_id: str,
        request_options: CallOptions | None = None,
    ) -> t.ContactTopicChoice:
        """Subscribe a contact to a topic.

        Stores the contact's explicit choice, which overrides the topic's default. The contact's status does
        not change.

        Args:
            id: The topic's ID.
            subscriber_id: The contact's ID.
            project_id: The project of the contact and the topic.
        """
        return _t.cast("t.ContactTopicChoice", await self._call(
            "POST",
            f"/topics/{path_part(id)}/subscribe",
            {"subscriberId": subscriber_id, "projectId": project_id},
            request_options,
        ))

    async def unsubscribe(
        self,
        id: str,
        *,
        subscriber_id: str,
        project_id: str,
        request_options: CallOptions | None = None,
    ) -> t.ContactTopicChoice:
        """Unsubscribe a contact from a topic.

        Stores the contact's explicit choice, which overrides the topic's default. Other topics and the
        contact's status do not change.

        Args:
            id: The topic's ID.
            subscriber_id: The contact's ID.
            project_id: The project of the contact and the topic.
        """
        return _t.cast("t.ContactTopicChoice", await self._call(
            "POST",
            f"/topics/{path_part(id)}/unsubscribe",
            {"subscriberId": subscriber_id, "projectId": project_id},
            request_options,
        ))


class AsyncSegments(AsyncResource):
    _client: AsyncMailmill

    def __init__(self, client: AsyncMailmill) -> None:
        super().__init__(client)

    def list(
        self,
        *,
        project_id: str,
        count: bool | Unset = UNSET,
        limit: int | Unset = UNSET,
        offset: int | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> AsyncList[t.SegmentsListPage, t.SegmentView]:
        """List segments.

        Lists segments, newest first. Unless `count` is false, each segment includes the number of contacts
        that currently match its filter.

        Args:
            project_id: The ID of the project whose segments are listed.
            count: Whether to count the contacts of each segment. The default is true. If the project has very
                many contacts, the counts can take a moment.
            offset: The number of segments to skip.
        """
        return self._list(
            "/segments",
            "segments",
            "offset",
            {"projectId": project_id, "count": count, "limit": limit, "offset": offset},
            request_options,
        )

    async def create(
        self,
        *,
        project_id: str,
        name: str,
        description: str | None | Unset = UNSET,
        filters: t.FilterTreeInput | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.SegmentView:
        """Create a segment.

        Returns 409 if a segment in the project has this name; data.id is then the ID of that segment. Text
        comparisons ignore case. The modes `is_not` and `not_contains` also match contacts without the field.
        A list in a custom field matches if one of its items matches. Number conditions accept numbers and
        numeric text; date conditions accept UTC days and times.

        Args:
            project_id: The ID of the segment's project.
            name: The name of the segment. Unique in the project, ignoring case.
            description: A description of the segment's purpose.
            filters: The filter that selects the segment's contacts. If absent, the segment contains every
                contact.
        """
        return _t.cast("t.SegmentView", await self._call(
            "POST",
            "/segments",
            {"projectId": project_id, "name": name, "description": description, "filters": filters},
            request_options,
            keyed=True,
        ))

    async def preview(
        self,
        *,
        project_id: str,
        filters: t.FilterTreeInput | None | Unset = UNSET,
        limit: int | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.SegmentPreview:
        """Preview a filter without saving it.

        Returns the number of matching contacts and some of them. The filter has the same form as in POST
        /v1/segments. The filter is not stored.

        Args:
            project_id: The ID of the project whose contacts are filtered.
            filters: The filter to preview. If absent, every contact matches.
            limit: The maximum number of contacts to return. The default is 10.
        """
        return _t.cast("t.SegmentPreview", await self._call(
            "POST",
            "/segments/preview",
            {"projectId": project_id, "filters": filters, "limit": limit},
            request_options,
        ))

    async def get(
        self,
        id: str,
        *,
        project_id: str,
        count: bool | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.SegmentView:
        """Get a segment.

        Includes the number of contacts that match the filter now, unless `count` is false. GET /v1/contacts
        with segmentId lists these contacts.

        Args:
            id: The segment's ID.
            project_id: The ID of the segment's project.
            count: Whether to count the segment's contacts. The default is true. If the project has very many
                contacts, the count can take a moment.
        """
        return _t.cast("t.SegmentView", await self._call(
            "GET",
            f"/segments/{path_part(id)}",
            {"projectId": project_id, "count": count},
            request_options,
        ))

    async def update(
        self,
        id: str,
        *,
        project_id: str,
        name: str | None | Unset = UNSET,
        description: str | None | Unset = UNSET,
        filters: t.FilterTreeInput | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.SegmentView:
        """Change a segment.

        Args:
            id: The segment's ID.
            project_id: The ID of the segment's project.
            name: The new name of the segment. Unique in the project, ignoring case.
            description: A description of the segment's purpose.
            filters: The complete new filter, which replaces the current filter.
        """
        return _t.cast("t.SegmentView", await self._call(
            "PATCH",
            f"/segments/{path_part(id)}",
            {"projectId": project_id, "name": name, "description": description, "filters": filters},
            request_options,
        ))

    async def delete(
        self,
        id: str,
        *,
        project_id: str,
        request_options: CallOptions | None = None,
    ) -> t.DeletedSegment:
        """Delete a segment.

        The contacts that match the segment's filter are not changed.

        Args:
            id: The segment's ID.
            project_id: The ID of the segment's project.
        """
        return _t.cast("t.DeletedSegment", await self._call(
            "DELETE",
            f"/segments/{path_part(id)}",
            {"projectId": project_id},
            request_options,
        ))

    async def get_project(self, id: str, *, request_options: CallOptions | None = None) -> t.OwningProject:
        """Get the project of a segment.

        All other operations on segments also require the project ID, so store both IDs instead of calling
        this operation each time.

        Args:
            id: The segment's ID.
        """
        return _t.cast("t.OwningProject", await self._call(
            "GET",
            f"/segments/{path_part(id)}/project",
            None,
            request_options,
        ))


class AsyncSuppressions(AsyncResource):
    _client: AsyncMailmill

    def __init__(self, client: AsyncMailmill) -> None:
        super().__init__(client)

    def list(
        self,
        *,
        reason: t.SuppressionReason | Unset = UNSET,
        email: str | Unset = UNSET,
        limit: int | Unset = UNSET,
        offset: int | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> AsyncList[t.SuppressionsListPage, t.SuppressionView]:
        """List suppressed addresses.

        Lists the addresses suppressed in the whole account, newest first.

        Args:
            reason: Return only addresses suppressed for this reason.
            email: Return only this address. It is found even if the recipient's data was erased.
            offset: The number of addresses to skip.
        """
        return self._list(
            "/suppressions",
            "suppressions",
            "offset",
            {"reason": reason, "email": email, "limit": limit, "offset": offset},
            request_options,
        )

    async def create(
        self,
        *,
        email: str,
        reason: t.GivenReason | Unset = UNSET,
        note: str | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.SuppressionView:
        """Suppress an address.

        Takes effect immediately for the whole account, including queued messages. The entry of an address
        already on the list does not change, unless the new reason is more serious. The response shows the
        resulting entry.

        Args:
            reason: The reason. If absent, `manual`. The other reasons are for lists imported from other
                systems.
            note: A note that is shown with the address.
        """
        return _t.cast("t.SuppressionView", await self._call(
            "POST",
            "/suppressions",
            {"email": email, "reason": reason, "note": note},
            request_options,
            keyed=True,
        ))

    async def delete(
        self,
        email: str,
        *,
        request_options: CallOptions | None = None,
    ) -> t.DeletedSuppression:
        """Remove an address from the suppression list.

        Remove an address if the recipient wants email again or a mail server rejected the address by mistake.
        The contact's status does not change.
        """
        return _t.cast("t.DeletedSuppression", await self._call(
            "DELETE",
            f"/suppressions/{path_part(email)}",
            None,
            request_options,
        ))


class AsyncSendsBatches(AsyncResource):
    _client: AsyncMailmill

    def __init__(self, client: AsyncMailmill) -> None:
        super().__init__(client)

    async def get(self, batch_id: str, *, request_options: CallOptions | None = None) -> t.BatchView:
        """Get a batch.

        Returns the progress of a send to an audience: the number of recipients in each state.
        """
        return _t.cast("t.BatchView", await self._call(
            "GET",
            f"/sending/batches/{path_part(batch_id)}",
            None,
            request_options,
        ))

    async def cancel(self, batch_id: str, *, request_options: CallOptions | None = None) -> t.BatchView:
        """Cancel a batch.

        Skips the remaining recipients. The outcome of messages in flight is still recorded.
        """
        return _t.cast("t.BatchView", await self._call(
            "POST",
            f"/sending/batches/{path_part(batch_id)}/cancel",
            None,
            request_options,
            keyed=True,
        ))

    async def resend_unknown(
        self,
        batch_id: str,
        *,
        request_options: CallOptions | None = None,
    ) -> t.ResentBatch:
        """Send again to recipients whose delivery is unknown.

        Sends again to recipients with the status unknown: their message was sent, but the service or the
        connection failed before the mail server replied, or the reply came too late or was invalid. A
        recipient who already has the message gets a second copy. Also accepts the ID of a direct send.
        """
        return _t.cast("t.ResentBatch", await self._call(
            "POST",
            f"/sending/batches/{path_part(batch_id)}/resend-unknown",
            None,
            request_options,
            keyed=True,
        ))


class AsyncSends(AsyncResource):
    _client: AsyncMailmill

    def __init__(self, client: AsyncMailmill) -> None:
        super().__init__(client)
        self.batches = AsyncSendsBatches(client)

    async def get(self, send_id: str, *, request_options: CallOptions | None = None) -> t.SendView:
        """Get a direct send.

        Returns the status of each recipient. For a batch, use GET /v1/sending/batches/{batchId}. A direct
        send is kept for the number of days in the setting mail.direct_days, then deleted with its content and
        links.
        """
        return _t.cast("t.SendView", await self._call(
            "GET",
            f"/sending/{path_part(send_id)}",
            None,
            request_options,
        ))


class AsyncMetrics(AsyncResource):
    _client: AsyncMailmill

    def __init__(self, client: AsyncMailmill) -> None:
        super().__init__(client)

    async def sending(
        self,
        *,
        months: int | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.SendingMetrics:
        """Get sending totals.

        Returns the totals for the key's environment. With a test key, the totals cover the messages in the
        built-in inbox.

        Args:
            months: The number of earlier months to return. If absent, none are returned.
        """
        return _t.cast("t.SendingMetrics", await self._call(
            "GET",
            "/metrics/sending",
            {"months": months},
            request_options,
        ))

    async def models(
        self,
        *,
        months: int | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.ModelMetrics:
        """Get the usage and cost of language models.

        Returns the usage of the brands in the key's environment. The limits apply to both environments
        together.

        Args:
            months: The number of earlier months to return in addition to the current month. The default is 0.
        """
        return _t.cast("t.ModelMetrics", await self._call(
            "GET",
            "/metrics/models",
            {"months": months},
            request_options,
        ))

    async def timeline(
        self,
        *,
        days: int | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.SendingTimeline:
        """Get daily sending statistics.

        Returns the statistics of all campaigns, batches, direct sends and test sends of all brands in the
        key's environment. An open is counted on the day of the open, not on the day the message was sent.
        Opens and clicks by bots are excluded.

        Args:
            days: The number of days, including today. The default is 30.
        """
        return _t.cast("t.SendingTimeline", await self._call(
            "GET",
            "/metrics/timeline",
            {"days": days},
            request_options,
        ))


class AsyncPlan(AsyncResource):
    _client: AsyncMailmill

    def __init__(self, client: AsyncMailmill) -> None:
        super().__init__(client)

    async def get(self, *, request_options: CallOptions | None = None) -> t.AccountPlan:
        """Get the account's limits.

        Returns the limits in effect, and how much of each quota is used in the key's environment.
        """
        return _t.cast("t.AccountPlan", await self._call("GET", "/plan", None, request_options))


class AsyncInbox(AsyncResource):
    _client: AsyncMailmill

    def __init__(self, client: AsyncMailmill) -> None:
        super().__init__(client)

    def list(
        self,
        *,
        to: str | Unset = UNSET,
        search: str | Unset = UNSET,
        send_id: str | Unset = UNSET,
        limit: int | Unset = UNSET,
        offset: int | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> AsyncList[t.InboxListPage, t.MessageView]:
        """List the built-in inbox.

        Lists the messages sent with test keys and, in development mode, with live keys, newest first.
        Recipients at simulator.mailmill.example behave as their names say: delivered, deferred (at the first
        attempt), mailbox-full (deferred at every attempt), hard-bounce, soft-bounce, complaint, open, click,
        unsubscribe.

        Args:
            to: Return only messages to this address.
            search: Return only messages that contain this text in the subject or in an address.
            send_id: Return only messages of the send or batch with this ID.
            offset: The number of messages to skip.
        """
        return self._list(
            "/inbox",
            "messages",
            "offset",
            {"to": to, "search": search, "sendId": send_id, "limit": limit, "offset": offset},
            request_options,
        )

    async def get(self, id: str, *, request_options: CallOptions | None = None) -> t.WholeMessage:
        """Get a message from the built-in inbox."""
        return _t.cast("t.WholeMessage", await self._call(
            "GET",
            f"/inbox/{path_part(id)}",
            None,
            request_options,
        ))

    async def delete(self, id: str, *, request_options: CallOptions | None = None) -> t.DeletedMessage:
        """Delete a message from the built-in inbox.

        Deletes only the message; the record of its send is kept.
        """
        return _t.cast("t.DeletedMessage", await self._call(
            "DELETE",
            f"/inbox/{path_part(id)}",
            None,
            request_options,
        ))

    async def html(
        self,
        id: str,
        *,
        images: bool | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> str:
        """Show a message from the built-in inbox as a page.

        The page runs no scripts, submits no forms, and loads images from other servers only if `images` is
        true. Its links open in a new window.

        Args:
            images: Whether this server fetches remote images and shows them. If false, only images stored by
                Mailmill are shown.
        """
        return _t.cast("str", await self._call(
            "GET",
            f"/inbox/{path_part(id)}/html",
            {"images": images},
            request_options,
            answer="text",
        ))

    async def raw(self, id: str, *, request_options: CallOptions | None = None) -> bytes:
        """Download a message from the built-in inbox.

        Returns the exact bytes that would have been sent, including signatures.
        """
        return _t.cast("bytes", await self._call(
            "GET",
            f"/inbox/{path_part(id)}/raw",
            None,
            request_options,
            answer="bytes",
        ))

    async def screenshot(self, id: str, *, request_options: CallOptions | None = None) -> bytes:
        """Take a screenshot of a message in the built-in inbox.

        Returns a PNG image of the whole message, 600 CSS pixels wide, with two image pixels per CSS pixel.
        """
        return _t.cast("bytes", await self._call(
            "GET",
            f"/inbox/{path_part(id)}/screenshot",
            None,
            request_options,
            answer="bytes",
        ))


class AsyncCampaigns(AsyncResource):
    _client: AsyncMailmill

    def __init__(self, client: AsyncMailmill) -> None:
        super().__init__(client)

    async def create(
        self,
        *,
        project_id: str,
        name: str,
        from_: str,
        from_name: str,
        recipient_type: t.CampaignTo,
        conversation_id: str | None | Unset = UNSET,
        email_id: str | None | Unset = UNSET,
        subject: str | None | Unset = UNSET,
        preheader_text: str | None | Unset = UNSET,
        reply_to: str | None | Unset = UNSET,
        recipient_id: str | None | Unset = UNSET,
        topic_id: str | None | Unset = UNSET,
        provider_type: str | None | Unset = UNSET,
        variables: dict[str, t.FieldValue] | None | Unset = UNSET,
        utm: t.UtmParametersInput | None | Unset = UNSET,
        minimum_score: int | None | Unset = UNSET,
        unknown: t.UnknownPolicy | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.CampaignView:
        """Create a campaign from a generated email.

        The campaign is a draft until you send or schedule it. Until then, it uses the current version of its
        email. Recipients get the email in their own language if the generation includes that language.

        Args:
            project_id: The project whose contacts receive the campaign.
            from_: The sender's address.
            from_name: The sender's name.
            conversation_id: The completed generation that contains the email to send. If the generation is a
                series, `emailId` selects the email; without `emailId`, the first email in the series is sent.
                Each recipient gets the email in the recipient's language or, if there is none in that
                language, the selected email itself.
            email_id: The email to send. Without `conversationId`, all recipients get exactly this email. With
                `conversationId`, this field selects an email in the series of that generation.
            subject: The subject, which may contain merge fields. The default is the email's own subject.
            preheader_text: The preview text that email clients show after the subject. The default is the
                email's own preheader.
            reply_to: The address for replies. The default is the sender's address.
            recipient_id: The ID of the segment or tag. Omit it with the recipient type `audience` to send to
                all contacts in the project.
            topic_id: The topic of the campaign. Contacts who are not subscribed to this topic are skipped.
            provider_type: The client's name for a transport, stored and returned only for compatibility. The
                installation's settings determine the transport.
            variables: Merge field values for all recipients.
            utm: UTM parameters for links, for web analytics. If absent, the setting of the From address's
                domain applies.
            minimum_score: The minimum validation score for sending. If absent, no score is required. The
                score is `scores.overall` of the email's checks.
            unknown: What to do with recipients whose delivery is unknown after a crash or a broken
                connection. If absent, the installation's setting applies.
        """
        return _t.cast("t.CampaignView", await self._call(
            "POST",
            "/campaigns",
            {"projectId": project_id, "name": name, "from": from_, "fromName": from_name, "recipientType": recipient_type, "conversationId": conversation_id, "emailId": email_id, "subject": subject, "preheaderText": preheader_text, "replyTo": reply_to, "recipientId": recipient_id, "topicId": topic_id, "providerType": provider_type, "variables": variables, "utm": utm, "minimumScore": minimum_score, "unknown": unknown},
            request_options,
            keyed=True,
        ))

    def list(
        self,
        *,
        project_id: str,
        status: _b.list[t.CampaignStatus] | Unset = UNSET,
        archived: bool | Unset = UNSET,
        search: str | Unset = UNSET,
        limit: int | Unset = UNSET,
        offset: int | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> AsyncList[t.CampaignsListPage, t.CampaignView]:
        """List campaigns.

        Lists campaigns, newest first.

        Args:
            project_id: The project that the campaigns belong to.
            status: Lists only campaigns with one of these statuses.
            archived: Lists only archived campaigns if true, or only campaigns that are not archived if false.
                If absent, lists all campaigns.
            search: Text to find in the names of campaigns, ignoring case.
            offset: The number of campaigns to skip.
        """
        return self._list(
            "/campaigns",
            "campaigns",
            "offset",
            {"projectId": project_id, "status": status, "archived": archived, "search": search, "limit": limit, "offset": offset},
            request_options,
        )

    def overview(
        self,
        *,
        project_id: str | Unset = UNSET,
        status: _b.list[t.CampaignStatus] | Unset = UNSET,
        archived: bool | Unset = UNSET,
        search: str | Unset = UNSET,
        limit: int | Unset = UNSET,
        before: str | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> AsyncList[t.CampaignsOverview, t.CampaignLine]:
        """List campaigns of all projects with their statistics.

        Lists campaigns, newest first. If few campaigns match, a page can have fewer campaigns than requested,
        or none, even though more pages follow.

        Args:
            project_id: Lists only campaigns in this project. If absent, lists the campaigns of all projects.
            status: Lists only campaigns with one of these statuses.
            archived: Lists only archived campaigns if true, or only campaigns that are not archived if false.
                If absent, lists all campaigns.
            search: Text to find in the names of campaigns, ignoring case.
            before: The value of `next` from the previous page.
        """
        return self._list(
            "/campaigns/overview",
            "campaigns",
            "before",
            {"projectId": project_id, "status": status, "archived": archived, "search": search, "limit": limit, "before": before},
            request_options,
        )

    async def get(
        self,
        id: str,
        *,
        project_id: str | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.CampaignView:
        """Get a campaign.

        Args:
            id: The campaign's ID.
            project_id: If given, the campaign must belong to this project.
        """
        return _t.cast("t.CampaignView", await self._call(
            "GET",
            f"/campaigns/{path_part(id)}",
            {"projectId": project_id},
            request_options,
        ))

    async def update(
        self,
        id: str,
        *,
        project_id: str | None | Unset = UNSET,
        name: str | None | Unset = UNSET,
        conversation_id: str | None | Unset = UNSET,
        email_id: str | None | Unset = UNSET,
        subject: str | None | Unset = UNSET,
        preheader_text: str | None | Unset = UNSET,
        from_: str | None | Unset = UNSET,
        from_name: str | None | Unset = UNSET,
        reply_to: str | None | Unset = UNSET,
        recipient_type: t.CampaignTo | None | Unset = UNSET,
        recipient_id: str | None | Unset = UNSET,
        topic_id: str | None | Unset = UNSET,
        provider_type: str | None | Unset = UNSET,
        variables: dict[str, t.FieldValue] | None | Unset = UNSET,
        utm: t.UtmParametersInput | None | Unset = UNSET,
        minimum_score: int | None | Unset = UNSET,
        unknown: t.UnknownPolicy | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.CampaignView:
        """Change a campaign that has not started.

        A scheduled campaign stays scheduled and must still be ready to start after the change.

        Args:
            id: The campaign's ID.
            project_id: If given, the campaign must belong to this project.
            conversation_id: The generation that contains the emails to send, one per language, as in the
                request that creates a campaign.
            email_id: The email to send. Without `conversationId`, all recipients get this email.
            subject: Replaces the email's own subject; `null` uses the email's own subject.
            preheader_text: Replaces the email's own preheader; `null` uses the email's own preheader.
            recipient_type: The kind of recipients. `segment` and `tag` require `recipientId`.
            variables: Replaces all variables; `{}` removes all variables.
            utm: UTM parameters for links; `null` uses the setting of the From address's domain.
            minimum_score: The minimum validation score for sending; `null` requires no score.
            unknown: What to do with recipients whose delivery is unknown; `null` uses the installation's
                setting.
        """
        return _t.cast("t.CampaignView", await self._call(
            "PATCH",
            f"/campaigns/{path_part(id)}",
            {"projectId": project_id, "name": name, "conversationId": conversation_id, "emailId": email_id, "subject": subject, "preheaderText": preheader_text, "from": from_, "fromName": from_name, "replyTo": reply_to, "recipientType": recipient_type, "recipientId": recipient_id, "topicId": topic_id, "providerType": provider_type, "variables": variables, "utm": utm, "minimumScore": minimum_score, "unknown": unknown},
            request_options,
        ))

    async def delete(
        self,
        id: str,
        *,
        project_id: str | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.DeletedCampaign:
        """Delete a draft.

        Only campaigns with the status draft or pending_review can be deleted. Archive other campaigns
        instead.

        Args:
            id: The campaign's ID.
            project_id: If given, the campaign must belong to this project.
        """
        return _t.cast("t.DeletedCampaign", await self._call(
            "DELETE",
            f"/campaigns/{path_part(id)}",
            {"projectId": project_id},
            request_options,
        ))

    async def duplicate(
        self,
        id: str,
        *,
        project_id: str | None | Unset = UNSET,
        name: str | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.CampaignView:
        """Duplicate a campaign as a draft.

        The copy has all settings of the original except its name and schedule. The original can have any
        status.

        Args:
            id: The campaign's ID.
            project_id: If given, the campaign must belong to this project.
            name: The name of the copy. The default is the original name followed by "(copy)".
        """
        return _t.cast("t.CampaignView", await self._call(
            "POST",
            f"/campaigns/{path_part(id)}/duplicate",
            {"projectId": project_id, "name": name},
            request_options,
            keyed=True,
        ))

    async def test(
        self,
        id: str,
        *,
        emails: _b.list[str],
        project_id: str | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.TestSent:
        """Send a test email of a campaign.

        Sends the email as it would go out now. Each test address gets the email in the language of the
        contact with this address. Works in every campaign status. If one of the addresses cannot be emailed,
        no test is sent, and RECIPIENT_NOT_SENDABLE names the address. Test emails are not counted in the
        campaign's statistics. Emits email.test.sent for each address.

        Args:
            id: The campaign's ID.
            emails: The test addresses: 1 to 20.
            project_id: If given, the campaign must belong to this project.
        """
        return _t.cast("t.TestSent", await self._call(
            "POST",
            f"/campaigns/{path_part(id)}/test",
            {"emails": emails, "projectId": project_id},
            request_options,
            keyed=True,
        ))

    async def dry_run(
        self,
        id: str,
        *,
        project_id: str | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.CampaignDryRun:
        """Preview the outcome of sending a campaign.

        Checks every recipient as sending does, but sends no email. Changes to the data before you send can
        change the result.

        Args:
            id: The campaign's ID.
            project_id: If given, the campaign must belong to this project.
        """
        return _t.cast("t.CampaignDryRun", await self._call(
            "GET",
            f"/campaigns/{path_part(id)}/dry-run",
            {"projectId": project_id},
            request_options,
        ))

    async def send(
        self,
        id: str,
        *,
        project_id: str | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.CampaignView:
        """Send a campaign now.

        Returns as soon as the campaign is stored for sending; check the progress with GET /v1/campaigns/{id}.
        The content can no longer change. A campaign can be sent only once: a second request fails with 409,
        or returns the same response if it has the Idempotency-Key of the first request. A scheduled campaign
        is sent now instead.

        Args:
            id: The campaign's ID.
            project_id: If given, the campaign must belong to this project.
        """
        return _t.cast("t.CampaignView", await self._call(
            "POST",
            f"/campaigns/{path_part(id)}/send",
            {"projectId": project_id},
            request_options,
            keyed=True,
        ))

    async def schedule(
        self,
        id: str,
        *,
        scheduled_at: str,
        project_id: str | None | Unset = UNSET,
        scheduled_timezone: t.TimeZone | None | Unset = UNSET,
        timezone_mode: t.TimezoneMode | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.CampaignView:
        """Schedule a campaign.

        At the start time, the campaign sends the current version of its email to the audience at that time.
        If clocks skip the local time, the start time moves forward by the gap. If the local time occurs
        twice, the first occurrence is used. `scheduleNotice` reports both cases. Scheduling a scheduled
        campaign again changes its start time. If the campaign cannot start when it is due, the status becomes
        pending_review, and `error` explains why.

        Args:
            id: The campaign's ID.
            scheduled_at: The start time, in ISO 8601 format. A time with an offset or Z is an exact moment; a
                time without an offset is a local time in the time zone `scheduledTimezone`.
            project_id: If given, the campaign must belong to this project.
            scheduled_timezone: The IANA name of the time zone; former names are accepted too. The default is
                UTC.
            timezone_mode: Whose time zone applies. The default is `campaign`. With `recipient`, each contact
                gets the campaign at this local time in the contact's time zone: the value of the custom field
                `timezone` or `time_zone`, or else the time zone of the contact's country if the country has
                only one, or else the campaign's time zone.
        """
        return _t.cast("t.CampaignView", await self._call(
            "POST",
            f"/campaigns/{path_part(id)}/schedule",
            {"scheduledAt": scheduled_at, "projectId": project_id, "scheduledTimezone": scheduled_timezone, "timezoneMode": timezone_mode},
            request_options,
            keyed=True,
        ))

    async def reschedule(
        self,
        id: str,
        *,
        scheduled_at: str,
        project_id: str | None | Unset = UNSET,
        scheduled_timezone: t.TimeZone | None | Unset = UNSET,
        timezone_mode: t.TimezoneMode | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.CampaignView:
        """Reschedule a campaign.

        Changes the start time of a campaign that is scheduled or pending review. Without scheduledTimezone,
        the campaign keeps its time zone; without timezoneMode, it keeps its mode. Fails if the campaign is a
        draft; schedule a draft with POST /v1/campaigns/{id}/schedule.

        Args:
            id: The campaign's ID.
            scheduled_at: The new start time, in ISO 8601 format. A time with an offset or Z is an exact
                moment; a time without an offset is a local time in the time zone `scheduledTimezone`.
            project_id: If given, the campaign must belong to this project.
            scheduled_timezone: The IANA name of the new time zone. If absent, the time zone stays unchanged.
            timezone_mode: Whose time zone applies: the campaign's, or each recipient's own. If absent, the
                mode stays unchanged.
        """
        return _t.cast("t.CampaignView", await self._call(
            "POST",
            f"/campaigns/{path_part(id)}/reschedule",
            {"scheduledAt": scheduled_at, "projectId": project_id, "scheduledTimezone": scheduled_timezone, "timezoneMode": timezone_mode},
            request_options,
            keyed=True,
        ))

    async def unschedule(
        self,
        id: str,
        *,
        project_id: str | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.CampaignView:
        """Unschedule a campaign.

        The campaign becomes a draft again.

        Args:
            id: The campaign's ID.
            project_id: If given, the campaign must belong to this project.
        """
        return _t.cast("t.CampaignView", await self._call(
            "POST",
            f"/campaigns/{path_part(id)}/unschedule",
            {"projectId": project_id},
            request_options,
            keyed=True,
        ))

    async def pause(
        self,
        id: str,
        *,
        project_id: str | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.CampaignView:
        """Pause a campaign that is being sent.

        Nothing more is sent until you resume the campaign. The outcome of messages in flight is still
        recorded, and opens and clicks are still counted.

        Args:
            id: The campaign's ID.
            project_id: If given, the campaign must belong to this project.
        """
        return _t.cast("t.CampaignView", await self._call(
            "POST",
            f"/campaigns/{path_part(id)}/pause",
            {"projectId": project_id},
            request_options,
            keyed=True,
        ))

    async def resume(
        self,
        id: str,
        *,
        project_id: str | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.CampaignView:
        """Resume a paused campaign.

        Sending continues with the remaining recipients.

        Args:
            id: The campaign's ID.
            project_id: If given, the campaign must belong to this project.
        """
        return _t.cast("t.CampaignView", await self._call(
            "POST",
            f"/campaigns/{path_part(id)}/resume",
            {"projectId": project_id},
            request_options,
            keyed=True,
        ))

    async def cancel(
        self,
        id: str,
        *,
        project_id: str | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.CampaignView:
        """Cancel a campaign.

        A scheduled campaign does not start. If the campaign is being sent, the remaining recipients are
        skipped with the reason `cancelled`; the outcome of messages in flight is still recorded.

        Args:
            id: The campaign's ID.
            project_id: If given, the campaign must belong to this project.
        """
        return _t.cast("t.CampaignView", await self._call(
            "POST",
            f"/campaigns/{path_part(id)}/cancel",
            {"projectId": project_id},
            request_options,
            keyed=True,
        ))

    async def archive(
        self,
        id: str,
        *,
        project_id: str | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.CampaignView:
        """Archive a campaign.

        Lists with archived=false no longer include the campaign. An archived campaign cannot be sent or
        scheduled, and does not start at its scheduled time.

        Args:
            id: The campaign's ID.
            project_id: If given, the campaign must belong to this project.
        """
        return _t.cast("t.CampaignView", await self._call(
            "POST",
            f"/campaigns/{path_part(id)}/archive",
            {"projectId": project_id},
            request_options,
            keyed=True,
        ))

    async def unarchive(
        self,
        id: str,
        *,
        project_id: str | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.CampaignView:
        """Unarchive a campaign.

        Returns 409 if the campaign is not archived.

        Args:
            id: The campaign's ID.
            project_id: If given, the campaign must belong to this project.
        """
        return _t.cast("t.CampaignView", await self._call(
            "POST",
            f"/campaigns/{path_part(id)}/unarchive",
            {"projectId": project_id},
            request_options,
            keyed=True,
        ))

    async def stats(
        self,
        id: str,
        *,
        project_id: str | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.CampaignStats:
        """Get a campaign's statistics.

        bounceRate is a percentage of the messages that were sent or rejected; the other rates are percentages
        of the delivered messages. Every recipient is in exactly one of totalSent, queued, deferred, failed,
        unknown and skipped.

        Args:
            id: The campaign's ID.
            project_id: If given, the campaign must belong to this project.
        """
        return _t.cast("t.CampaignStats", await self._call(
            "GET",
            f"/campaigns/{path_part(id)}/stats",
            {"projectId": project_id},
            request_options,
        ))

    async def report(
        self,
        id: str,
        *,
        project_id: str | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.CampaignReport:
        """Get a campaign's results per day and per link.

        The results exclude opens and clicks by bots. Each order appears on the day it was placed, even if it
        was reported later.

        Args:
            id: The campaign's ID.
            project_id: If given, the campaign must belong to this project.
        """
        return _t.cast("t.CampaignReport", await self._call(
            "GET",
            f"/campaigns/{path_part(id)}/report",
            {"projectId": project_id},
            request_options,
        ))

    def logs(
        self,
        id: str,
        *,
        project_id: str | Unset = UNSET,
        limit: int | Unset = UNSET,
        cursor: str | Unset = UNSET,
        status: t.CampaignLogStatus | Unset = UNSET,
        skip_reason: t.SkipReason | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> AsyncList[t.LogPart, t.CampaignLog]:
        """List a campaign's recipients.

        Returns a row for each recipient; rows of skipped recipients include the reason. If few rows match the
        filter, a page can have fewer rows than requested, or none, even though nextCursor is set.

        Args:
            id: The campaign's ID.
            project_id: If given, the campaign must belong to this project.
            cursor: The `nextCursor` of the previous page.
            status: Lists only recipients with this status. A recipient who clicked also matches `delivered`,
                and a recipient with the status `failed` also matches `bounced`.
            skip_reason: Lists only recipients who were skipped for this reason. If `status` is given too, it
                must be `skipped`.
        """
        return self._list(
            f"/campaigns/{path_part(id)}/logs",
            "emails",
            "cursor",
            {"projectId": project_id, "limit": limit, "cursor": cursor, "status": status, "skipReason": skip_reason},
            request_options,
        )

    async def resend_unknown(
        self,
        id: str,
        *,
        project_id: str | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.CampaignResent:
        """Send again to recipients whose delivery is unknown.

        If the process or a connection fails during a handoff, it is uncertain whether a recipient has the
        message. Recipients who already have the message get a second copy with the same Message-ID.

        Args:
            id: The campaign's ID.
            project_id: If given, the campaign must belong to this project.
        """
        return _t.cast("t.CampaignResent", await self._call(
            "POST",
            f"/campaigns/{path_part(id)}/resend-unknown",
            {"projectId": project_id},
            request_options,
            keyed=True,
        ))


class AsyncMailServices(AsyncResource):
    _client: AsyncMailmill

    def __init__(self, client: AsyncMailmill) -> None:
        super().__init__(client)

    def list(
        self,
        *,
        limit: int | Unset = UNSET,
        offset: int | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> AsyncList[t.MailServicesListPage, t.MailFeedbackView]:
        """List mail services.

        Lists mail services, oldest first. The webhook URL of a mail service is returned only when the URL is
        created.

        Args:
            offset: The number of mail services to skip.
        """
        return self._list(
            "/mail-services",
            "mailServices",
            "offset",
            {"limit": limit, "offset": offset},
            request_options,
        )

    async def create(
        self,
        *,
        service: t.MailService,
        name: str | None | Unset = UNSET,
        secret: str | None | Unset = UNSET,
        topic_arns: _b.list[str] | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.MailFeedbackWithUrl:
        """Add a mail service.

        Only this response shows the URL of the webhook. Enter the URL in the settings of the provider that
        relays your mail. The provider then reports bounces, complaints, deliveries and unsubscribes, with the
        same effects as bounce messages. An event takes effect only if it contains the reference of a message
        of this environment.

        Args:
            name: A name that distinguishes this webhook from other webhooks for the same service.
            secret: The secret for verifying requests: Mailgun's signing key, SendGrid's verification key,
                Brevo's token, Resend's signing secret, or `user:password` for Postmark. It can be set later,
                because some services show it only after the URL has been entered there. It is stored
                encrypted and never shown again.
            topic_arns: For Amazon SES: the ARNs of the SNS topics from which notifications are accepted.
        """
        return _t.cast("t.MailFeedbackWithUrl", await self._call(
            "POST",
            "/mail-services",
            {"service": service, "name": name, "secret": secret, "topicArns": topic_arns},
            request_options,
            keyed=True,
        ))

    async def get(
        self,
        mail_service_id: str,
        *,
        request_options: CallOptions | None = None,
    ) -> t.MailFeedbackView:
        """Get a mail service.

        The response shows whether events arrive, and why the last request was rejected.

        Args:
            mail_service_id: The ID of the mail service.
        """
        return _t.cast("t.MailFeedbackView", await self._call(
            "GET",
            f"/mail-services/{path_part(mail_service_id)}",
            None,
            request_options,
        ))

    async def update(
        self,
        mail_service_id: str,
        *,
        name: str | None | Unset = UNSET,
        secret: str | None | Unset = UNSET,
        topic_arns: _b.list[str] | None | Unset = UNSET,
        new_url: bool | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.MailFeedbackWithUrl:
        """Change a mail service.

        If the mail service shows the secret only after you enter the URL there, set the secret with this
        operation.

        Args:
            mail_service_id: The ID of the mail service.
            secret: The new secret for verifying requests. It replaces the current secret.
            topic_arns: For Amazon SES: the ARNs of the SNS topics from which notifications are accepted. They
                replace all previous ARNs.
            new_url: Whether to create a new URL, which is shown only in this response. The current URL stops
                working immediately.
        """
        return _t.cast("t.MailFeedbackWithUrl", await self._call(
            "PATCH",
            f"/mail-services/{path_part(mail_service_id)}",
            {"name": name, "secret": secret, "topicArns": topic_arns, "newUrl": new_url},
            request_options,
        ))

    async def delete(
        self,
        mail_service_id: str,
        *,
        request_options: CallOptions | None = None,
    ) -> t.DeletedMailService:
        """Delete a mail service.

        After the deletion, the URL of its webhook returns 404. Suppressions and statistics from its events
        are kept.

        Args:
            mail_service_id: The ID of the mail service.
        """
        return _t.cast("t.DeletedMailService", await self._call(
            "DELETE",
            f"/mail-services/{path_part(mail_service_id)}",
            None,
            request_options,
        ))

    async def test(
        self,
        mail_service_id: str,
        *,
        request_options: CallOptions | None = None,
    ) -> t.MailServiceTested:
        """Test a mail service.

        Sends a sample hard bounce through the checks for real requests. The sample has the service's format,
        and is signed like the service's requests. It refers to no message, so it has no effect. The call
        itself succeeds even if the test fails.

        Args:
            mail_service_id: The ID of the mail service.
        """
        return _t.cast("t.MailServiceTested", await self._call(
            "POST",
            f"/mail-services/{path_part(mail_service_id)}/test",
            None,
            request_options,
        ))


class AsyncIncomingWebhooks(AsyncResource):
    _client: AsyncMailmill

    def __init__(self, client: AsyncMailmill) -> None:
        super().__init__(client)

    def list(
        self,
        *,
        project_id: str | Unset = UNSET,
        limit: int | Unset = UNSET,
        offset: int | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> AsyncList[t.IncomingWebhooksListPage, t.HookView]:
        """List incoming webhooks.

        Lists incoming webhooks, oldest first. The URL of an incoming webhook is returned only when the URL is
        created.

        Args:
            project_id: If given, only the incoming webhooks of this project are returned.
            offset: The number of incoming webhooks to skip.
        """
        return self._list(
            "/incoming-webhooks",
            "hooks",
            "offset",
            {"projectId": project_id, "limit": limit, "offset": offset},
            request_options,
        )

    async def create(
        self,
        *,
        project_id: str,
        name: str,
        kind: t.HookKind | None | Unset = UNSET,
        mapping: dict[str, str] | None | Unset = UNSET,
        signature: t.GivenSignature | None | Unset = UNSET,
        event_name: str | None | Unset = UNSET,
        tags: _b.list[str] | None | Unset = UNSET,
        topic_id: str | None | Unset = UNSET,
        consent_source: str | None | Unset = UNSET,
        redirect_url: str | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.HookWithUrl:
        """Create an incoming webhook.

        Only this response shows the URL. Other systems send contacts or customer events to it, as JSON or as
        a form, without a key: the URL itself is the secret.

        Args:
            project_id: The project to which the contacts or events are added.
            name: The name of the webhook, such as the name of the form.
            kind: What the request bodies contain. The default is `contacts`.
            mapping: The path of each field's value in the body, such as `contact.email`. Without a mapping,
                each field gets the value with the same name in the body, and other values are ignored. The
                fields for contacts are `email`, the other contact fields, and `customFields.NAME`. The fields
                for events are `name`, `occurredAt`, `dedupeKey`, the identifiers of an event,
                `properties.NAME` and `profile.FIELD`.
            signature: How the other system signs its requests. If given, requests without a valid signature
                are rejected.
            event_name: The name that every event receives. If absent, the name comes from the body.
            tags: The tags to add to every contact.
            topic_id: The topic to which contacts are subscribed. Requires `consentSource`.
            consent_source: Where the contacts agreed to marketing email, such as the form. If given, new
                contacts are subscribed, and the text is stored in their custom field `consentSource`. If
                absent, new contacts are non-subscribed. A contact who unsubscribed stays unsubscribed.
            redirect_url: The page to which browsers are redirected after they submit a form.
        """
        return _t.cast("t.HookWithUrl", await self._call(
            "POST",
            "/incoming-webhooks",
            {"projectId": project_id, "name": name, "kind": kind, "mapping": mapping, "signature": signature, "eventName": event_name, "tags": tags, "topicId": topic_id, "consentSource": consent_source, "redirectUrl": redirect_url},
            request_options,
            keyed=True,
        ))

    async def get(self, hook: str, *, request_options: CallOptions | None = None) -> t.HookView:
        """Get an incoming webhook.

        The response does not include the URL, which is returned only when the URL is created.

        Args:
            hook: The ID of the incoming webhook.
        """
        return _t.cast("t.HookView", await self._call(
            "GET",
            f"/incoming-webhooks/{path_part(hook)}",
            None,
            request_options,
        ))

    async def update(
        self,
        hook: str,
        *,
        name: str | None | Unset = UNSET,
        mapping: dict[str, str] | None | Unset = UNSET,
        signature: t.GivenSignature | None | Unset = UNSET,
        event_name: str | None | Unset = UNSET,
        tags: _b.list[str] | None | Unset = UNSET,
        topic_id: str | None | Unset = UNSET,
        consent_source: str | None | Unset = UNSET,
        redirect_url: str | None | Unset = UNSET,
        active: bool | None | Unset = UNSET,
        new_url: bool | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.HookWithUrl:
        """Change an incoming webhook.

        The changes apply to requests that arrive later.

        Args:
            hook: The ID of the incoming webhook.
            mapping: The path of each field's value in the body. The new mapping replaces the whole previous
                mapping.
            signature: How the other system signs its requests. If given, requests without a valid signature
                are rejected.
            event_name: The name that every event receives.
            tags: The tags to add to every contact. They replace all previous tags.
            topic_id: The topic to which contacts are subscribed.
            consent_source: Where the contacts agreed to marketing email.
            redirect_url: The page to which browsers are redirected after they submit a form.
            active: Whether requests are accepted.
            new_url: Whether to create a new URL, which is shown only in this response. The current URL stops
                working immediately.
        """
        return _t.cast("t.HookWithUrl", await self._call(
            "PATCH",
            f"/incoming-webhooks/{path_part(hook)}",
            {"name": name, "mapping": mapping, "signature": signature, "eventName": event_name, "tags": tags, "topicId": topic_id, "consentSource": consent_source, "redirectUrl": redirect_url, "active": active, "newUrl": new_url},
            request_options,
        ))

    async def delete(self, hook: str, *, request_options: CallOptions | None = None) -> t.DeletedHook:
        """Delete an incoming webhook.

        After the deletion, its URL returns 404. The contacts and events that it received are kept.

        Args:
            hook: The ID of the incoming webhook.
        """
        return _t.cast("t.DeletedHook", await self._call(
            "DELETE",
            f"/incoming-webhooks/{path_part(hook)}",
            None,
            request_options,
        ))

    async def deliveries(self, hook: str, *, request_options: CallOptions | None = None) -> t.HookDeliveries:
        """List the requests of an incoming webhook.

        Lists the last 50 requests, newest first. Values from the request bodies are not stored, because they
        may be personal data.

        Args:
            hook: The ID of the incoming webhook.
        """
        return _t.cast("t.HookDeliveries", await self._call(
            "GET",
            f"/incoming-webhooks/{path_part(hook)}/deliveries",
            None,
            request_options,
        ))

    async def test(
        self,
        hook: str,
        *,
        body: dict[str, t.AnyJson],
        request_options: CallOptions | None = None,
    ) -> t.HookTested:
        """Test an incoming webhook.

        Returns the values that the mapping takes from a body, and whether they can be stored. Nothing is
        stored. The call itself succeeds even if the test fails. Signatures are not checked.

        Args:
            hook: The ID of the incoming webhook.
            body: A request body from the other system, such as a sample that the other system displays.
        """
        return _t.cast("t.HookTested", await self._call(
            "POST",
            f"/incoming-webhooks/{path_part(hook)}/test",
            {"body": body},
            request_options,
        ))


class AsyncScheduledImports(AsyncResource):
    _client: AsyncMailmill

    def __init__(self, client: AsyncMailmill) -> None:
        super().__init__(client)

    def list(
        self,
        *,
        project_id: str | Unset = UNSET,
        limit: int | Unset = UNSET,
        offset: int | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> AsyncList[t.ScheduledImportsListPage, t.ScheduledImportView]:
        """List scheduled imports.

        Lists scheduled imports, oldest first.

        Args:
            project_id: If given, only the scheduled imports of the project with this ID are returned.
            offset: The number of scheduled imports to skip.
        """
        return self._list(
            "/scheduled-imports",
            "imports",
            "offset",
            {"projectId": project_id, "limit": limit, "offset": offset},
            request_options,
        )

    async def create(
        self,
        *,
        project_id: str,
        name: str,
        every_hours: int | None | Unset = UNSET,
        url: str | None | Unset = UNSET,
        target: t.ImportTarget | Unset = UNSET,
        delimiter: str | None | Unset = UNSET,
        column_map: t.ColumnMapInput | None | Unset = UNSET,
        on_conflict: t.OnConflict | None | Unset = UNSET,
        tags: _b.list[str] | None | Unset = UNSET,
        status: t.ContactStatus | None | Unset = UNSET,
        consent_mode: t.ConsentMode | None | Unset = UNSET,
        mapping: dict[str, str] | None | Unset = UNSET,
        event_name: str | None | Unset = UNSET,
        provider: t.ConnectionProvider | None | Unset = UNSET,
        connection_id: str | None | Unset = UNSET,
        sources: _b.list[t.SourceRef] | None | Unset = UNSET,
        field_map: dict[str, str | None] | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.ScheduledImportView:
        """Create a scheduled import.

        The first run starts immediately. With `url`, each run fetches the file, unless the server has no
        newer version, and imports its rows: contacts like POST /v1/contacts/imports, or events like POST
        /v1/events/batch. A row without a dedupeKey gets a key computed from the row, so that a row is stored
        once even if later files contain it again. With `provider`, the first run imports all contacts from
        the sources like POST /v1/contacts/imports/provider; each later run imports only contacts that have
        joined or changed since then. A contact who unsubscribes on the platform is unsubscribed; a contact
        who unsubscribed or bounced is not resubscribed. After several failed runs in a row, the scheduled
        import is paused.

        Args:
            project_id: The ID of the project to which the contacts or events are added.
            every_hours: The number of hours between two runs. The default is 24, which means one run each
                day.
            url: The URL of a CSV file with a header row. The server must be public, and the URL must not
                contain a user name or password.
            target: What each row in the file becomes.
            delimiter: The separator between cells of the file. If absent, it is detected. `\\t` is a tab.
            column_map: For imports of contacts from a file: the column header for each contact field. If
                absent, common headers are recognized.
            on_conflict: For imports of contacts from a file: what happens to contacts that already exist. The
                default is `upsert`.
            tags: For imports of contacts from a file: the names of the tags to add to every contact.
            status: For imports of contacts from a file: the status for contacts whose row has no status. Set
                `subscribed` only if all contacts in the file agreed to marketing email. If absent,
                `consentMode` decides.
            consent_mode: Whether to import contacts who have neither subscribed nor unsubscribed, if `status`
                is absent. The default, `subscribed-only`, leaves them out.
            mapping: For imports of events from a file: the column header for each event field. Without a
                mapping, the headers must be the field names: `name`, `occurredAt`, `dedupeKey`, the fields
                that identify the contact, such as `email`, and `properties.NAME` and `profile.FIELD`.
            event_name: For imports of events from a file: the name that every event receives. If absent, the
                name comes from a column.
            provider: The platform from which contacts are imported.
            connection_id: For imports of contacts from a platform: the ID of the connection to use. Required
                if the brand can use several connections to the provider.
            sources: For imports of contacts from a platform: the sources, as `GET
                /v1/contacts/imports/providers/{provider}/sources` lists them.
            field_map: For imports of contacts from a platform: the contact field for each platform field, as
                in POST /v1/contacts/imports/provider.
        """
        return _t.cast("t.ScheduledImportView", await self._call(
            "POST",
            "/scheduled-imports",
            {"projectId": project_id, "name": name, "everyHours": every_hours, "url": url, "target": target, "delimiter": delimiter, "columnMap": column_map, "onConflict": on_conflict, "tags": tags, "status": status, "consentMode": consent_mode, "mapping": mapping, "eventName": event_name, "provider": provider, "connectionId": connection_id, "sources": sources, "fieldMap": field_map},
            request_options,
            keyed=True,
        ))

    async def get(self, id: str, *, request_options: CallOptions | None = None) -> t.ScheduledImportView:
        """Get a scheduled import.

        Returns the schedule and the result of the last run.

        Args:
            id: The ID of the scheduled import.
        """
        return _t.cast("t.ScheduledImportView", await self._call(
            "GET",
            f"/scheduled-imports/{path_part(id)}",
            None,
            request_options,
        ))

    async def update(
        self,
        id: str,
        *,
        name: str | None | Unset = UNSET,
        every_hours: int | None | Unset = UNSET,
        url: str | None | Unset = UNSET,
        delimiter: str | None | Unset = UNSET,
        column_map: t.ColumnMapInput | None | Unset = UNSET,
        on_conflict: t.OnConflict | None | Unset = UNSET,
        tags: _b.list[str] | None | Unset = UNSET,
        status: t.ContactStatus | None | Unset = UNSET,
        consent_mode: t.ConsentMode | None | Unset = UNSET,
        mapping: dict[str, str] | None | Unset = UNSET,
        event_name: str | None | Unset = UNSET,
        connection_id: str | None | Unset = UNSET,
        sources: _b.list[t.SourceRef] | None | Unset = UNSET,
        field_map: dict[str, str | None] | None | Unset = UNSET,
        active: bool | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.ScheduledImportView:
        """Change a scheduled import.

        After a change of the source or its mapping, the next run imports everything. This run starts
        immediately, unless you paused the scheduled import. A running import continues with its original
        settings.

        Args:
            id: The ID of the scheduled import.
            every_hours: The number of hours between two runs.
            url: The URL of a CSV file with a header row.
            delimiter: The separator between cells of the file. `\\t` is a tab.
            column_map: For imports of contacts from a file: the column header for each contact field.
                Replaces the whole mapping.
            on_conflict: For imports of contacts from a file: what happens to contacts that already exist.
            tags: For imports of contacts from a file: the names of the tags to add to every contact. The list
                replaces the previous list.
            status: For imports of contacts from a file: the status for contacts whose row has no status.
            consent_mode: Whether to import contacts who have neither subscribed nor unsubscribed, if `status`
                is absent.
            mapping: For imports of events from a file: the column header for each event field. Replaces the
                whole mapping.
            event_name: For imports of events from a file: the name that every event receives.
            connection_id: For imports of contacts from a platform: the ID of the connection to use, which
                must be to the same platform.
            sources: For imports of contacts from a platform: the sources. The list replaces the previous
                list.
            field_map: For imports of contacts from a platform: the contact field for each platform field.
                Replaces the whole mapping.
            active: False pauses the scheduled import; true ends a pause and starts a run.
        """
        return _t.cast("t.ScheduledImportView", await self._call(
            "PATCH",
            f"/scheduled-imports/{path_part(id)}",
            {"name": name, "everyHours": every_hours, "url": url, "delimiter": delimiter, "columnMap": column_map, "onConflict": on_conflict, "tags": tags, "status": status, "consentMode": consent_mode, "mapping": mapping, "eventName": event_name, "connectionId": connection_id, "sources": sources, "fieldMap": field_map, "active": active},
            request_options,
        ))

    async def delete(
        self,
        id: str,
        *,
        request_options: CallOptions | None = None,
    ) -> t.DeletedScheduledImport:
        """Delete a scheduled import.

        Contacts and events that were already imported are kept. A running contact import continues; a running
        event import is canceled.

        Args:
            id: The ID of the scheduled import.
        """
        return _t.cast("t.DeletedScheduledImport", await self._call(
            "DELETE",
            f"/scheduled-imports/{path_part(id)}",
            None,
            request_options,
        ))

    async def run(self, id: str, *, request_options: CallOptions | None = None) -> t.ScheduledImportView:
        """Run a scheduled import now.

        Ends a pause. Returns before the run starts. While a run is in progress, no other run starts.

        Args:
            id: The ID of the scheduled import.
        """
        return _t.cast("t.ScheduledImportView", await self._call(
            "POST",
            f"/scheduled-imports/{path_part(id)}/run",
            None,
            request_options,
            keyed=True,
        ))


class AsyncWebhooksDeliveries(AsyncResource):
    _client: AsyncMailmill

    def __init__(self, client: AsyncMailmill) -> None:
        super().__init__(client)

    def list(
        self,
        webhook_id: str,
        *,
        status: t.DeliveryStatus | Unset = UNSET,
        limit: int | Unset = UNSET,
        offset: int | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> AsyncList[t.WebhooksDeliveriesListPage, t.DeliveryView]:
        """List deliveries.

        Lists deliveries, newest first, with the record of every attempt. Deliveries are kept for the number
        of days in the setting webhooks.deliveries_kept_days. A status filter searches the newest 20,000
        deliveries.

        Args:
            webhook_id: The ID of the webhook.
            status: Return only deliveries with this status.
            offset: The number of deliveries to skip.
        """
        return self._list(
            f"/webhooks/{path_part(webhook_id)}/deliveries",
            "deliveries",
            "offset",
            {"status": status, "limit": limit, "offset": offset},
            request_options,
        )

    async def get(
        self,
        webhook_id: str,
        delivery_id: str,
        *,
        request_options: CallOptions | None = None,
    ) -> t.DeliveryDetails:
        """Get a delivery.

        Includes every attempt: its time, and the endpoint's response or the error. With the permission
        `webhook:write`, the delivery also includes its body if the event is still stored; events are kept for
        seven days.

        Args:
            webhook_id: The ID of the webhook.
            delivery_id: The ID of the delivery.
        """
        return _t.cast("t.DeliveryDetails", await self._call(
            "GET",
            f"/webhooks/{path_part(webhook_id)}/deliveries/{path_part(delivery_id)}",
            None,
            request_options,
        ))

    async def retry(
        self,
        webhook_id: str,
        delivery_id: str,
        *,
        request_options: CallOptions | None = None,
    ) -> t.DeliveryView:
        """Redeliver an event.

        Creates a new delivery of the same event, with up to three new attempts and the same event ID and
        body. Events are kept for seven days. Fails while a delivery of the event is pending.

        Args:
            webhook_id: The ID of the webhook.
            delivery_id: The ID of the delivery.
        """
        return _t.cast("t.DeliveryView", await self._call(
            "POST",
            f"/webhooks/{path_part(webhook_id)}/deliveries/{path_part(delivery_id)}/retry",
            None,
            request_options,
            keyed=True,
        ))


class AsyncWebhooks(AsyncResource):
    _client: AsyncMailmill

    def __init__(self, client: AsyncMailmill) -> None:
        super().__init__(client)
        self.deliveries = AsyncWebhooksDeliveries(client)

    def list(
        self,
        *,
        limit: int | Unset = UNSET,
        offset: int | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> AsyncList[t.WebhooksListPage, t.WebhookView]:
        """List webhooks.

        Lists webhooks, oldest first.

        Args:
            offset: The number of webhooks to skip.
        """
        return self._list(
            "/webhooks",
            "webhooks",
            "offset",
            {"limit": limit, "offset": offset},
            request_options,
        )

    async def create(
        self,
        *,
        url: str,
        events: _b.list[_t.Literal["email.generation.started", "email.generation.completed", "email.generation.failed", "email.test.sent", "project.import.started", "subscriber.added", "subscriber.updated", "subscriber.unsubscribed", "subscriber.bulk_imported", "email.delivered", "email.opened", "email.clicked", "email.bounced", "email.complained", "project.import.processing", "project.import.completed", "project.import.failed", "export.completed", "export.failed", "api_key.created", "api_key.revoked"]],
        description: str | None | Unset = UNSET,
        custom_headers: dict[str, str] | None | Unset = UNSET,
        active: bool | None | Unset = UNSET,
        standard_signature: bool | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.WebhookWithSecret:
        """Create a webhook.

        Only this response shows the signing secret. Deliveries are POST requests with the event as JSON;
        X-Service-Signature is the hexadecimal HMAC-SHA256 of the raw body, keyed with the secret exactly as
        shown here, including its whsec_ prefix. A 2xx response within ten seconds is a success; any other
        result except 410 is retried, up to three attempts in total.

        Args:
            url: The URL for deliveries: an https URL that is reachable from the public internet.
            events: The types of events that the webhook receives: at least one of those that `GET
                /v1/webhooks/events` lists.
            description: The purpose of the webhook.
            custom_headers: Headers to send with every delivery, such as `Authorization`: at most 20, and none
                that Mailmill sets or reserves. The values are stored encrypted and never shown again.
            active: Whether the webhook receives events. The default is true.
            standard_signature: Whether deliveries also have the Standard Webhooks headers `webhook-id`,
                `webhook-timestamp` and `webhook-signature`, which the public Standard Webhooks libraries
                verify with the same secret. The default is false.
        """
        return _t.cast("t.WebhookWithSecret", await self._call(
            "POST",
            "/webhooks",
            {"url": url, "events": events, "description": description, "customHeaders": custom_headers, "active": active, "standardSignature": standard_signature},
            request_options,
            keyed=True,
        ))

    async def event_types(self, *, request_options: CallOptions | None = None) -> t.EventTypes:
        """List event types.

        Lists all event types that a webhook can subscribe to.
        """
        return _t.cast("t.EventTypes", await self._call("GET", "/webhooks/events", None, request_options))

    async def stats(self, *, request_options: CallOptions | None = None) -> t.StatsView:
        """Get delivery statistics.

        A delivery is counted as successful or failed when it ends. Tests are included.
        """
        return _t.cast("t.StatsView", await self._call("GET", "/webhooks/stats", None, request_options))

    async def get(self, webhook_id: str, *, request_options: CallOptions | None = None) -> t.WebhookView:
        """Get a webhook.

        The response does not include the secret, which is returned only when the secret is created.

        Args:
            webhook_id: The ID of the webhook.
        """
        return _t.cast("t.WebhookView", await self._call(
            "GET",
            f"/webhooks/{path_part(webhook_id)}",
            None,
            request_options,
        ))

    async def update(
        self,
        webhook_id: str,
        *,
        url: str | None | Unset = UNSET,
        events: _b.list[_t.Literal["email.generation.started", "email.generation.completed", "email.generation.failed", "email.test.sent", "project.import.started", "subscriber.added", "subscriber.updated", "subscriber.unsubscribed", "subscriber.bulk_imported", "email.delivered", "email.opened", "email.clicked", "email.bounced", "email.complained", "project.import.processing", "project.import.completed", "project.import.failed", "export.completed", "export.failed", "api_key.created", "api_key.revoked"]] | None | Unset = UNSET,
        active: bool | None | Unset = UNSET,
        description: str | None | Unset = UNSET,
        custom_headers: dict[str, str] | None | Unset = UNSET,
        standard_signature: bool | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.UpdatedWebhook:
        """Change a webhook.

        If deliveries are paused, changing the URL or enabling a disabled webhook resumes them.

        Args:
            webhook_id: The ID of the webhook.
            url: The URL for deliveries, including pending deliveries.
            events: The events that the webhook receives after the change.
            active: Whether the webhook receives events. Disabling the webhook cancels its pending deliveries;
                events that occur while it is disabled can be delivered later with `POST
                /v1/webhooks/{webhookId}/redeliver`.
            description: The purpose of the webhook.
            custom_headers: The headers to send with every delivery. They replace all previous headers. A
                value of `********`, as shown in responses, keeps the header's current value.
            standard_signature: Whether deliveries also have the Standard Webhooks signature.
        """
        return _t.cast("t.UpdatedWebhook", await self._call(
            "PATCH",
            f"/webhooks/{path_part(webhook_id)}",
            {"url": url, "events": events, "active": active, "description": description, "customHeaders": custom_headers, "standardSignature": standard_signature},
            request_options,
        ))

    async def delete(
        self,
        webhook_id: str,
        *,
        request_options: CallOptions | None = None,
    ) -> t.DeletedWebhook:
        """Delete a webhook.

        Also deletes the webhook's deliveries; pending ones are not delivered. An attempt in flight may still
        arrive.

        Args:
            webhook_id: The ID of the webhook.
        """
        return _t.cast("t.DeletedWebhook", await self._call(
            "DELETE",
            f"/webhooks/{path_part(webhook_id)}",
            None,
            request_options,
        ))

    async def test(self, webhook_id: str, *, request_options: CallOptions | None = None) -> t.WebhookTested:
        """Send a test event.

        Makes one attempt, signed like any other attempt, with the header X-Service-Test and the type
        webhook.test. This also works for disabled or paused webhooks. The response contains the endpoint's
        response. The call itself succeeds even if the test fails.

        Args:
            webhook_id: The ID of the webhook.
        """
        return _t.cast("t.WebhookTested", await self._call(
            "POST",
            f"/webhooks/{path_part(webhook_id)}/test",
            None,
            request_options,
        ))

    async def rotate_secret(
        self,
        webhook_id: str,
        *,
        grace_hours: int | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.WebhookWithSecret:
        """Rotate a webhook's secret.

        Only this response shows the new secret. Until previousSecretExpiresAt, both secrets sign:
        X-Service-Signature and X-Service-Signature-Alternate contain one digest each, and webhook-signature
        contains both. Some receivers have only one of the secrets and check only X-Service-Signature. For
        them, the first attempt signs this header with the secret that last succeeded at the endpoint
        (initially the old secret), the second attempt with the new secret, and the third attempt with the old
        secret. A test signs this header with the new secret. If you rotate again during the grace period, the
        oldest secret stops signing.

        Args:
            webhook_id: The ID of the webhook.
            grace_hours: The number of hours for which the old secret continues to be used for signing. The
                default is 24. Use 0 if the old secret was leaked.
        """
        return _t.cast("t.WebhookWithSecret", await self._call(
            "POST",
            f"/webhooks/{path_part(webhook_id)}/rotate-secret",
            {"graceHours": grace_hours},
            request_options,
            keyed=True,
        ))

    async def redeliver(
        self,
        webhook_id: str,
        *,
        from_: str,
        to: str | None | Unset = UNSET,
        all: bool | None | Unset = UNSET,
        request_options: CallOptions | None = None,
    ) -> t.RedeliveryView:
        """Redeliver events from a time range.

        Creates a new delivery for each event in the range that the webhook subscribes to, unless the event
        has arrived or has a pending delivery. With `all`, events that have arrived are also redelivered.
        Events that occurred while the webhook was disabled are included. Opt-in events are stored only while
        a webhook subscribes to them. The work runs in the background; the webhook's redelivery shows its
        progress. A webhook can have only one redelivery at a time.

        Args:
            webhook_id: The ID of the webhook.
            from_: The start of the range: at most seven days ago, because events are kept for seven days.
            to: The end of the range. If absent, the current time.
            all: Whether to include events that have already arrived. The default is false.
        """
        return _t.cast("t.RedeliveryView", await self._call(
            "POST",
            f"/webhooks/{path_part(webhook_id)}/redeliver",
            {"from": from_, "to": to, "all": all},
            request_options,
            keyed=True,
        ))


class AsyncMailmill(AsyncClient):
    """An asynchronous client of the API.

    Example:
        async with AsyncMailmill() as client:
            async for project in client.projects.list():
                print(project["name"])
    """

    def __init__(
        self,
        api_key: str | None = None,
        base_url: str | None = None,
        *,
        timeout: float | None = None,
        max_retries: int = RETRIES,
        headers: collections.abc.Mapping[str, str] | None = None,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        """Creates a client.

        Args:
            api_key: The API key; `MAILMILL_KEY` of the environment if absent.
            base_url: The address of the server, with or without `/v1`; `MAILMILL_URL` of the environment if absent.
            timeout: The seconds that an attempt may take, until the end of the response; 60 if absent, and 600 for uploads.
            max_retries: How often a failed request is retried.
            headers: Headers for every request.
            http_client: The httpx client to use, for example with a proxy. It is not closed with this client.
        """
        super().__init__(
            api_key, base_url, timeout=timeout, max_retries=max_retries, headers=headers, http_client=http_client
        )
        self.projects = AsyncProjects(self)
        self.domains = AsyncDomains(self)
        self.emails = AsyncEmails(self)
        self.saved_blocks = AsyncSavedBlocks(self)
        self.validation = AsyncValidation(self)
        self.previews = AsyncPreviews(self)
        self.exports = AsyncExports(self)
        self.contacts = AsyncContacts(self)
        self.connections = AsyncConnections(self)
        self.storefront = AsyncStorefront(self)
        self.events = AsyncEvents(self)
        self.tags = AsyncTags(self)
        self.topics = AsyncTopics(self)
        self.segments = AsyncSegments(self)
        self.suppressions = AsyncSuppressions(self)
        self.sends = AsyncSends(self)
        self.metrics = AsyncMetrics(self)
        self.plan = AsyncPlan(self)
        self.inbox = AsyncInbox(self)
        self.campaigns = AsyncCampaigns(self)
        self.mail_services = AsyncMailServices(self)
        self.incoming_webhooks = AsyncIncomingWebhooks(self)
        self.scheduled_imports = AsyncScheduledImports(self)
        self.webhooks = AsyncWebhooks(self)
