/** A response without its envelope. */
export interface Envelope {
 data: unknown;
 /** The total number of items of a list. */
 count?: number | undefined;
}
/** How a list continues: the name of its items in the page, if the page is an object; and the parameter for the next page. */
export interface Paging {
 items?: string;
 by: "offset" | "cursor" | "before";
}
/**
 * A list of the API. Iterate over it to receive all items, or await it to receive one page. Nothing is requested before.
 *
 * @example
 * ```ts
 * for await (const contact of mailmill.contacts.list({ projectId })) console.log(contact.email);
 * const { contacts, total } = await mailmill.contacts.list({ projectId, limit: 10 });
 * ```
 */
export declare class List<Page, Item> implements Promise<Page>, AsyncIterable<Item> {
 #private;
 readonly [Symbol.toStringTag] = "List";
 /** Requests one page. */
 then<A = Page, B = never>(done?: ((page: Page) => A | PromiseLike<A>) | null, failed?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<A | B>;
 catch<B = never>(failed?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<Page | B>;
 finally(ended?: (() => void) | null): Promise<Page>;
 /** Returns the pages, each with up to `limit` items; 100 if there is no `limit`. */
 pages(): AsyncGenerator<Page, void, undefined>;
 [Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined>;
}
