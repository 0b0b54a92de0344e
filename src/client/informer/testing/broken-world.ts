/**
 * An informer at the end of a failing wire, a concurrent writer, and a record of what was written, delivered and missed; at the end all
 * three must agree (expected-calls.ts).
 */
import assert from "node:assert/strict";
import { configMaps } from "../../../api/core/v1/config-map.ts";
import type { KubeObject } from "../../../api/machinery/object.ts";
import { isReason } from "../../../api/machinery/status-error.ts";
import type { Transport } from "../../../api/machinery/transport.ts";
import { silentLogger } from "../../../base/logger.ts";
import { pick, type Random } from "../../../base/random.ts";
import { UNBROKEN, type ByteWire } from "../../../testing/fixtures/byte-wire.ts";
import type { Informer } from "../informer.ts";
import { createInformers } from "../informers.ts";
import { withGapBook } from "./gap-book.ts";
import { expectedLines, deliveredLines, type Gap, type Happened } from "./expected-calls.ts";

const MAPS = { group: "", version: "v1", plural: "configmaps" } as const;

/** Characters of one to four bytes, so that cuts go through the middle of some. */
const DATA = ["", "plain", "süß", "雪が降る", "𝄞 clef"];

export class BrokenWorld implements AsyncDisposable {
  readonly wire: ByteWire;
  readonly informer: Informer;
  readonly #informers;
  readonly #delivered: string[] = [];
  readonly #gaps: Gap[] = [];
  readonly #history: Happened[];
  readonly #random: Random;

  /** `history`: earlier events of this wire, if it is not its first world. */
  constructor(
    wire: ByteWire,
    options: { readonly random: Random; readonly history?: Happened[]; readonly over?: (wire: Transport) => Transport },
  ) {
    const { random, history = [], over = (same) => same } = options;
    this.wire = wire;
    this.#random = random;
    this.#history = history;
    const transport = withGapBook(over(wire.transport), this.#gaps, () => this.informer.revision);
    this.#informers = createInformers({ transport, clock: wire.clock, random: random.derive("informers"), log: silentLogger });
    this.informer = this.#informers.of(configMaps);
    this.informer.listen(deliveredLines(this.#delivered));
  }

  /** Creates, changes or deletes an object. */
  async write(): Promise<void> {
    const random = this.#random;
    const [namespace, name] = [pick(random, ["default", "kube-public"]), pick(random, ["a", "b", "c", "d"])];
    const object = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name, namespace },
      data: { of: pick(random, DATA), n: String(random.below(1_000)) },
    };
    const direct = this.wire.direct();
    const key = `${namespace}/${name}`;
    const place = { ...MAPS, namespace };
    try {
      if (random.below(3) === 0) {
        await direct.request({ ...place, verb: "delete", name });
        await this.#note("deleted", key, "");
      } else {
        const answer = await direct.request({ ...place, verb: "update", name, object }).catch((error: unknown) => {
          if (!isReason(error, "NotFound")) throw error;
          return direct.request({ ...place, verb: "create", object });
        });
        assert(answer.is === "object");
        await this.#note("put", key, answer.object.metadata.uid ?? "");
      }
    } catch (error) {
      if (!isReason(error, "NotFound")) throw error;
    }
  }

  /** Repairs all faults and waits until they are noticed. Then everything must agree. */
  async check(): Promise<void> {
    this.wire.fateOf = () => UNBROKEN;
    await this.wire.startServer();
    // The longest delay, the longest silence, and a bookmark after them.
    await this.wire.clock.advance(400_000);
    const { items } = await this.listed();
    assert.deepEqual(this.informer.list().map(withoutClaims), items.map(withoutClaims));
    assert.deepEqual(this.#delivered, expectedLines(this.#history, this.#gaps));
  }

  /** The server's state. */
  async listed(): Promise<{ readonly items: readonly KubeObject[]; readonly revision: string }> {
    const answer = await this.wire.direct().request({ ...MAPS, verb: "list" });
    assert(answer.is === "list");
    return { items: answer.items, revision: answer.metadata.resourceVersion ?? "" };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#informers.close();
  }

  /** There is no other writer, so that the newest revision is that of the last write; one without effect has none. */
  async #note(is: Happened["is"], key: string, uid: string): Promise<void> {
    const revision = await this.wire.store.currentRevision();
    if (this.#history.at(-1)?.revision !== revision) this.#history.push({ is, key, uid, revision });
  }
}

/** Present over the wire, absent in the process. */
function withoutClaims(object: KubeObject): KubeObject {
  const { managedFields: _managedFields, ...metadata } = object.metadata;
  return { ...object, metadata };
}
