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

/** The largest page that the API returns. */
const PAGE_MAX = 100;

/**
 * A list of the API. Iterate over it to receive all items, or await it to receive one page. Nothing is requested before.
 *
 * @example
 * ```ts
 * for await (const contact of mailmill.contacts.list({ projectId })) console.log(contact.email);
 * const { contacts, total } = await mailmill.contacts.list({ projectId, limit: 10 });
 * ```
 */
export class List<Page, Item> implements Promise<Page>, AsyncIterable<Item> {
  readonly [Symbol.toStringTag] = "List";
  readonly #load: (changes: Record<string, unknown>) => Promise<Envelope>;
  readonly #paging: Paging;
  readonly #params: Record<string, unknown>;

  /** @internal */
  constructor(load: (changes: Record<string, unknown>) => Promise<Envelope>, paging: Paging, params: Record<string, unknown> = {}) {
    this.#load = load;
    this.#paging = paging;
    this.#params = params;
  }

  /** Requests one page. */
  then<A = Page, B = never>(
    done?: ((page: Page) => A | PromiseLike<A>) | null,
    failed?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#load({})
      .then((envelope) => envelope.data as Page)
      .then(done, failed);
  }

  catch<B = never>(failed?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<Page | B> {
    return this.then(undefined, failed);
  }

  finally(ended?: (() => void) | null): Promise<Page> {
    return this.then().finally(ended);
  }

  /** Returns the pages, each with up to `limit` items; 100 if there is no `limit`. */
  async *pages(): AsyncGenerator<Page, void, undefined> {
    for await (const envelope of this.#envelopes()) yield envelope.data as Page;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const envelope of this.#envelopes()) yield* this.#items(envelope);
  }

  async *#envelopes(): AsyncGenerator<Envelope, void, undefined> {
    const changes: Record<string, unknown> = { limit: this.#params["limit"] ?? PAGE_MAX };
    let offset = Number(this.#params["offset"] ?? 0);
    for (;;) {
      const envelope = await this.#load(changes);
      yield envelope;
      const count = this.#items(envelope).length;
      if (this.#paging.by === "offset") {
        offset += count;
        if (count === 0 || offset >= (envelope.count ?? Infinity)) return;
        changes["offset"] = offset;
      } else {
        const page = envelope.data as Record<string, unknown>;
        const next = this.#paging.by === "cursor" ? page["nextCursor"] : page["next"];
        if (next === undefined || next === null) return;
        changes[this.#paging.by] = next;
      }
    }
  }

  #items(envelope: Envelope): Item[] {
    const { items } = this.#paging;
    return (items === undefined ? envelope.data : (envelope.data as Record<string, unknown>)[items]) as Item[];
  }
}
