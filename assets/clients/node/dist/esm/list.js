const PAGE_MAX = 100;
export class List {
 [Symbol.toStringTag] = "List";
 #load;
 #paging;
 #params;
 constructor(load, paging, params = {}) {
  this.#load = load;
  this.#paging = paging;
  this.#params = params;
 }
 then(done, failed) {
  return this.#load({})
   .then((envelope) => envelope.data)
   .then(done, failed);
 }
 catch(failed) {
  return this.then(undefined, failed);
 }
 finally(ended) {
  return this.then().finally(ended);
 }
 async *pages() {
  for await (const envelope of this.#envelopes())
   yield envelope.data;
 }
 async *[Symbol.asyncIterator]() {
  for await (const envelope of this.#envelopes())
   yield* this.#items(envelope);
 }
 async *#envelopes() {
  const changes = { limit: this.#params["limit"] ?? PAGE_MAX };
  let offset = Number(this.#params["offset"] ?? 0);
  for (;;) {
   const envelope = await this.#load(changes);
   yield envelope;
   const count = this.#items(envelope).length;
   if (this.#paging.by === "offset") {
    offset += count;
    if (count === 0 || offset >= (envelope.count ?? Infinity))
     return;
    changes["offset"] = offset;
   }
   else {
    const page = envelope.data;
    const next = this.#paging.by === "cursor" ? page["nextCursor"] : page["next"];
    if (next === undefined || next === null)
     return;
    changes[this.#paging.by] = next;
   }
  }
 }
 #items(envelope) {
  const { items } = this.#paging;
  return (items === undefined ? envelope.data : envelope.data[items]);
 }
}
