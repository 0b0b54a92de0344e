/**
 * Finds kinds by the names that the garbage collector encounters: that of a key ("pods"), and that of a reference (apiVersion and kind).
 * Watched kinds are looked up in a table. Others (an owner may be of any kind, also of a just defined one) are discovered, and the result
 * is cached briefly.
 */
import { apiVersionOf, parseApiVersion, type OwnerReference } from "../../api/machinery/object.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import type { Clock } from "../../base/clock.ts";
import { Lru } from "../../base/lru.ts";
import type { Client, ResourceKind } from "../../client/client.ts";
import { discoverVersion, type DiscoveredKind } from "../../client/discovery.ts";
import { isFollowed } from "../runtime/all-kinds.ts";
import { kindName } from "../runtime/keys.ts";

/** So that thousands of objects with an owner of an unknown kind do not cause thousands of requests, and a new kind is soon known. */
const DOCUMENT_KEPT_MS = 5_000;
const DOCUMENTS_MAX = 100;

interface KeptDocument {
  readonly untilMs: number;
  readonly kinds: Promise<readonly ResourceKind[]>;
}

export class KindTable {
  readonly #kinds: () => readonly DiscoveredKind[];
  readonly #clock: Clock;
  /** The first value of each kind: indexes belong to it, and would be rebuilt for another. */
  #known = new Map<string, DiscoveredKind>();
  readonly #documents = new Lru<string, KeptDocument>({ max: DOCUMENTS_MAX });
  #discovered: readonly DiscoveredKind[] | undefined;
  #followed: readonly ResourceKind[] = [];
  #byName = new Map<string, ResourceKind>();
  #byReference = new Map<string, ResourceKind>();

  constructor({ kinds, clock }: { readonly kinds: () => readonly DiscoveredKind[]; readonly clock: Clock }) {
    this.#kinds = kinds;
    this.#clock = clock;
  }

  /** All kinds that `read` shows. */
  get followed(): readonly ResourceKind[] {
    this.#refresh();
    return this.#followed;
  }

  /** By "deployments.apps". */
  named(name: string): ResourceKind | undefined {
    this.#refresh();
    return this.#byName.get(name);
  }

  /** In any version: an object is the same in all of them. */
  followedAs({ group, kind }: { readonly group: string; readonly kind: string }): ResourceKind | undefined {
    this.#refresh();
    return this.#byReference.get(`${group}/${kind}`);
  }

  /** The kind in the very version of the reference, as the server has it. Rejects if it is not served, or the server does not respond. */
  async lookup({ apiVersion, kind }: OwnerReference, write: Client): Promise<ResourceKind> {
    const found = (await this.#document(apiVersion, write)).find((candidate) => candidate.kind === kind);
    if (found === undefined) throw new Error(`Cannot look for an owner of kind ${JSON.stringify(kind)}: ${apiVersion} has no such kind`);
    return found;
  }

  #document(apiVersion: string, write: Client): Promise<readonly ResourceKind[]> {
    const kept = this.#documents.get(apiVersion);
    if (kept !== undefined && kept.untilMs > this.#clock.monotonic()) return kept.kinds;
    const kinds = kindsOfVersion(apiVersion, write);
    this.#documents.set(apiVersion, { untilMs: this.#clock.monotonic() + DOCUMENT_KEPT_MS, kinds });
    // A server that did not respond is retried.
    void kinds.catch(() => this.#documents.delete(apiVersion));
    return kinds;
  }

  #refresh(): void {
    const discovered = this.#kinds();
    if (discovered === this.#discovered) return;
    this.#discovered = discovered;
    const followed = discovered.filter(isFollowed).map((kind) => this.#firstSeen(kind));
    this.#known = new Map(followed.map((kind) => [versionedName(kind), kind]));
    this.#followed = followed;
    this.#byName = new Map(this.#followed.map((kind) => [kindName(kind), kind]));
    this.#byReference = new Map(this.#followed.map((kind) => [`${kind.storage.group}/${kind.kind}`, kind]));
  }

  #firstSeen(kind: DiscoveredKind): DiscoveredKind {
    const known = this.#known.get(versionedName(kind));
    return known !== undefined && known.kind === kind.kind && known.scope === kind.scope ? known : kind;
  }
}

function versionedName({ storage, plural }: ResourceKind): string {
  return `${apiVersionOf(storage)}/${plural}`;
}

/** None if the server does not know the version. */
async function kindsOfVersion(apiVersion: string, write: Client): Promise<readonly ResourceKind[]> {
  try {
    return parseApiVersion(apiVersion) === undefined ? [] : await discoverVersion(write, apiVersion);
  } catch (error) {
    if (isReason(error, "NotFound")) return [];
    throw error;
  }
}
