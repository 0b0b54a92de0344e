/**
 * An informer at the end of a wire that breaks, somebody who writes meanwhile, and a book of what was written, what was told and which
 * stretches were not seen; at the end all three must agree (told.ts).
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
import { expectedLines, toldLines, type Gap, type Happened } from "./told.ts";

const MAPS = { group: "", version: "v1", plural: "configmaps" } as const;

/** Letters of one to four bytes, so that cuts go through the middle of some. */
const DATA = ["", "plain", "süß", "雪が降る", "𝄞 clef"];

export class BrokenWorld implements AsyncDisposable {
  readonly wire: ByteWire;
  readonly informer: Informer;
  readonly #informers;
  readonly #told: string[] = [];
  readonly #gaps: Gap[] = [];
  readonly #history: Happened[];
  readonly #random: Random;

  /** `history`: what happened on this wire before, if it is not the first world of it. */
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
    this.informer.listen(toldLines(this.#told));
  }

  /** Creates, changes or deletes something. */
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

  /** Whatever was broken is mended, and there is time to notice. Then everything must agree. */
  async check(): Promise<void> {
    this.wire.fateOf = () => UNBROKEN;
    await this.wire.startServer();
    // The longest delay, the longest silence, and a bookmark after them.
    await this.wire.clock.advance(400_000);
    const { items } = await this.listed();
    assert.deepEqual(this.informer.list().map(withoutClaims), items.map(withoutClaims));
    assert.deepEqual(this.#told, expectedLines(this.#history, this.#gaps));
  }

  /** What the server has. */
  async listed(): Promise<{ readonly items: readonly KubeObject[]; readonly revision: string }> {
    const answer = await this.wire.direct().request({ ...MAPS, verb: "list" });
    assert(answer.is === "list");
    return { items: answer.items, revision: answer.metadata.resourceVersion ?? "" };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#informers.close();
  }

  /** Nobody else writes, so the newest revision is that of the last write; one that changes nothing has none. */
  async #note(is: Happened["is"], key: string, uid: string): Promise<void> {
    const revision = await this.wire.store.currentRevision();
    if (this.#history.at(-1)?.revision !== revision) this.#history.push({ is, key, uid, revision });
  }
}

/** Over the wire they are shown, in the process they are not. */
function withoutClaims(object: KubeObject): KubeObject {
  const { managedFields: _managedFields, ...metadata } = object.metadata;
  return { ...object, metadata };
}
