/**
 * Maintains the CSINode of this kubelet: it exists once the Node exists, and lists the registered CSI drivers. Writes are serialized and
 * retried on conflicts. Not here: the contents (csi-node-object.ts), which drivers are registered (machine/csi).
 */
import type { CSINode } from "../../api/generated/storage.k8s.io/v1.ts";
import { nodes } from "../../api/core/v1/node.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import { csiNodes } from "../../api/storage.k8s.io/v1/csi-node.ts";
import { exponentialDelayMs } from "../../base/backoff.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { Client } from "../../client/client.ts";
import {
  installPatch,
  isOwnedBy,
  newCsiNode,
  uninstallPatch,
  withDriver,
  withMigration,
  withoutDriver,
  type InstalledCsiDriver,
} from "./csi-node-object.ts";

/** Upstream's attempts per write, and their delays. */
const ATTEMPTS = 4;
const RETRY_DELAY = { minMs: 10, maxMs: 1_250 };

/** Retries of the first write: the server may be starting. */
const INITIALIZE_RETRY_DELAY = { minMs: 200, maxMs: 7_000 };

export interface CsiNodeManagerOptions {
  readonly nodeName: string;
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
}

export class CsiNodeManager {
  readonly #options: CsiNodeManagerOptions;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: CsiNodeManagerOptions) {
    this.#options = options;
  }

  /** Creates the CSINode. Retries until it succeeds; rejects only with the signal. */
  async initialize(signal: AbortSignal): Promise<void> {
    const { clock, log, nodeName } = this.#options;
    for (let attempt = 0; ; attempt++) {
      try {
        await this.#inTurn(() => this.#writeCsiNode(withMigration));
        return;
      } catch (error) {
        signal.throwIfAborted();
        log.warn("Creating the CSINode failed; retrying", { node: nodeName, error });
      }
      await clock.sleep(exponentialDelayMs(INITIALIZE_RETRY_DELAY, attempt), signal);
    }
  }

  /** Rejects with upstream's message. */
  async install(driver: InstalledCsiDriver): Promise<void> {
    if (driver.nodeId === "") throw new Error("error adding CSI driver node info: driverNodeID must not be empty");
    await this.#inTurn(async () => {
      await this.#explained("error updating Node object with CSI driver node info", () =>
        this.#patchNode((node) => installPatch(node, driver)),
      );
      await this.#explained("error updating CSINode object with CSI driver node info", () =>
        this.#writeCsiNode((csiNode) => withDriver(csiNode, driver)),
      );
    });
  }

  /** The driver may report another limit while it runs. */
  async update(driver: InstalledCsiDriver): Promise<void> {
    await this.#inTurn(() =>
      this.#explained("error updating CSINode object with CSI driver node info", () =>
        this.#writeCsiNode((csiNode) => withDriver(csiNode, driver)),
      ),
    );
  }

  async uninstall(name: string): Promise<void> {
    await this.#inTurn(async () => {
      await this.#explained("error uninstalling CSI driver from CSINode object", () =>
        this.#writeCsiNode((csiNode) => withoutDriver(csiNode, name)),
      );
      await this.#explained("error removing CSI driver node info from Node object", () =>
        this.#patchNode((node) => uninstallPatch(node, name)),
      );
    });
  }

  async #patchNode(patchOf: (node: Awaited<ReturnType<CsiNodeManager["node"]>>) => ReturnType<typeof installPatch>): Promise<void> {
    const value = patchOf(await this.node());
    if (value === undefined) return;
    await this.#writer().patch(nodes, { name: this.#options.nodeName }, { type: "merge", value });
  }

  /** A driver's registration has no revision: it triggers the write through the kubelet. */
  #writer(): Client {
    const { client, nodeName } = this.#options;
    return client.with({ cause: { controller: "kubelet", key: nodeName, reason: "DriverRegistration" } });
  }

  node() {
    return this.#options.client.get(nodes, { name: this.#options.nodeName });
  }

  /** One of an earlier Node of this name is deleted first: its drivers are not registered here. */
  async #writeCsiNode(change: (csiNode: CSINode) => CSINode): Promise<void> {
    const { nodeName: name, log } = this.#options;
    const client = this.#writer();
    const node = await this.node();
    const found = await client.get(csiNodes, { name }).catch((error: unknown) => {
      if (isReason(error, "NotFound")) return undefined;
      throw error;
    });
    if (found !== undefined && isOwnedBy(found, node)) {
      const changed = change(found);
      if (changed !== found) await client.update(csiNodes, changed);
      return;
    }
    if (found !== undefined) {
      log.info("Replacing a CSINode that belongs to another Node", { node: name, csiNodeUid: found.metadata.uid });
      const { uid } = found.metadata;
      await client.delete(csiNodes, { name }, uid === undefined ? {} : { preconditions: { uid } });
    }
    await client.create(csiNodes, change(newCsiNode(node, [])));
  }

  async #explained(what: string, write: () => Promise<void>): Promise<void> {
    const { clock } = this.#options;
    for (let attempt = 1; ; attempt++) {
      try {
        return await write();
      } catch (error) {
        if (attempt === ATTEMPTS) throw new Error(`${what}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
        await clock.sleep(exponentialDelayMs(RETRY_DELAY, attempt - 1));
      }
    }
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work, work);
    this.#turn = turn.catch(() => undefined);
    return turn;
  }
}
