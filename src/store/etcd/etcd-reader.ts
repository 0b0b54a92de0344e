/**
 * Reads from etcd: one key, paged lists, the newest revision. Every read is linearizable, whichever member responds. All pages of one list
 * are read at the revision of the first.
 */
import type { Entry, ListOptions, ListResult, ReadOptions } from "../store.ts";
import { checkReadOptions } from "../read-options.ts";
import { compacted, futureRevision, isStoreError, StoreError } from "../store-error.ts";
import type { CompactedRevision } from "./compacted-revision.ts";
import type { EtcdCluster } from "./etcd-cluster.ts";
import { RANGE, type KeyValue } from "./etcd-messages.ts";
import type { Decoded, Encodable } from "../../base/protobuf/messages.ts";
import type { KeyRange, KeySpace } from "./key-space.ts";
import type { OwnWrites } from "../own-writes.ts";
import { CoalescedRead } from "../coalesced-read.ts";

/** Entries per page: about 1 MB of typical objects. If a response is too large, pages get smaller. */
const PAGE_ENTRIES = 500;

type RangeRequest = Encodable<(typeof RANGE)["request"]>;
type RangeResponse = Decoded<(typeof RANGE)["response"]>;

export interface EtcdReaderOptions {
  readonly cluster: EtcdCluster;
  readonly keys: KeySpace;
  readonly ownWrites: OwnWrites;
  readonly compaction: CompactedRevision;
}

export class EtcdReader {
  readonly #options: EtcdReaderOptions;
  readonly #revision = new CoalescedRead(() => this.#look());

  constructor(options: EtcdReaderOptions) {
    this.#options = options;
  }

  async get(key: string, { revision }: ReadOptions): Promise<Entry | undefined> {
    checkReadOptions(revision === undefined ? {} : { revision });
    const { kvs } = await this.#range(`get ${key}`, { key: this.#options.keys.encode(key), revision });
    return kvs[0] === undefined ? undefined : this.entryOf(kvs[0]);
  }

  async list(prefix: string, options: ListOptions): Promise<ListResult> {
    const { limit = Infinity, startAfter } = options;
    checkReadOptions(options);
    const { keys } = this.#options;
    let ranges = keys
      .rangesOf(prefix)
      .flatMap((range) => (startAfter === undefined ? [range] : (keys.rangeAfter(range, startAfter) ?? [])));
    const entries: Entry[] = [];
    let revision = options.revision;
    for (;;) {
      const [range, ...others] = ranges;
      if (range === undefined) return { entries, revision: revision ?? (await this.currentRevision()), remaining: 0 };
      const { key, rangeEnd } = range;
      const page = await this.#page(`list ${prefix}`, { key, rangeEnd, revision, limit: Math.min(PAGE_ENTRIES, limit - entries.length) });
      revision ??= revisionOf(page);
      for (const kv of page.kvs) entries.push(this.entryOf(kv));
      const remaining = page.count - page.kvs.length;
      if (entries.length >= limit) return { entries, revision, remaining: remaining + (await this.#countIn(others, revision)).keys };
      const rest = remaining === 0 ? undefined : keys.rangeAfter(range, (entries.at(-1) as Entry).key);
      ranges = rest === undefined ? others : [rest, ...others];
    }
  }

  /** Exactly how many keys there are, and at which revision. */
  count(): Promise<{ readonly keys: number; readonly revision: number }> {
    return this.#countIn(this.#options.keys.rangesOf(""), undefined);
  }

  async #countIn(ranges: readonly KeyRange[], at: number | undefined): Promise<{ readonly keys: number; readonly revision: number }> {
    let keys = 0;
    let revision = at;
    for (const { key, rangeEnd } of ranges) {
      const answer = await this.#range("count the keys", { key, rangeEnd, revision, countOnly: true });
      keys += answer.count;
      revision ??= revisionOf(answer);
    }
    return { keys, revision: revision ?? 0 };
  }

  /** Rejects with "Unsupported" if an earlier version of k8ts, with another key layout, has written here. */
  async refuseLegacyKeys(root: string): Promise<void> {
    const { count } = await this.#range("look for keys of an earlier version", { ...this.#options.keys.legacyRange(), countOnly: true });
    if (count > 0) {
      throw new StoreError(
        "Unsupported",
        `Cannot use etcd under ${root}: an earlier version of k8ts has written there with other keys (${root}/k8ts/…); use another --etcd-prefix or an empty etcd`,
      );
    }
  }

  currentRevision(): Promise<number> {
    return this.#revision.read();
  }

  entryOf({ key, value, modRevision }: KeyValue): Entry {
    const text = this.#options.keys.decode(key);
    return { key: text, revision: modRevision, value: this.#options.ownWrites.valueOf(text, modRevision, value) };
  }

  async #look(): Promise<number> {
    // Not a valid key: the response is only a header.
    return revisionOf(await this.#range("read the newest revision", { key: this.#options.keys.encode("/"), countOnly: true }));
  }

  /** A page, smaller than requested if the entries are too large together. */
  async #page(action: string, request: RangeRequest & { readonly limit: number }): Promise<RangeResponse> {
    try {
      return await this.#range(action, request);
    } catch (error) {
      if (!isStoreError(error, "TooLarge") || request.limit <= 1) throw error;
      return this.#page(action, { ...request, limit: Math.ceil(request.limit / 4) });
    }
  }

  async #range(action: string, request: RangeRequest): Promise<RangeResponse> {
    const { cluster, compaction } = this.#options;
    const wanted = request.revision ?? 0;
    try {
      return await cluster.read(action, (endpoint, options) => endpoint.call(RANGE, request, options));
    } catch (error) {
      if (isStoreError(error, "Compacted")) throw compacted(wanted, await compaction.query(wanted));
      if (isStoreError(error, "FutureRevision")) throw futureRevision(wanted, await this.currentRevision());
      throw error;
    }
  }
}

export function revisionOf({ header }: { readonly header: { readonly revision: number } | undefined }): number {
  return header?.revision ?? 0;
}
