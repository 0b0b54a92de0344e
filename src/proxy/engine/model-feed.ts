/**
 * Keeps the model of this node equal to the API: informers on Services, EndpointSlices, ServiceCIDRs and the Node note what changed, and
 * `update` recomputes those. While the API server is away the informers keep their content, and so the model stays. Not here: the
 * computation (../compute-model.ts) and who applies it (proxy.ts).
 */
import { nodes } from "../../api/core/v1/node.ts";
import { services } from "../../api/core/v1/service.ts";
import { serviceCidrs } from "../../api/networking.k8s.io/v1/service-cidr.ts";
import { endpointSlices } from "../../api/discovery.k8s.io/v1/endpoint-slice.ts";
import type { Node } from "../../api/generated/core/v1.ts";
import type { EndpointSlice } from "../../api/generated/discovery.k8s.io/v1.ts";
import { disjointCidrs } from "../../api/machinery/ip/disjoint-cidrs.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import type { Transport } from "../../api/machinery/transport.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import { defineIndex } from "../../client/informer/index.ts";
import type { InformerHandler, Informers } from "../../client/informer/informer.ts";
import { createInformers } from "../../client/informer/informers.ts";
import { ModelComputation, type ModelSettings } from "../compute-model.ts";
import { HEADLESS_LABEL, PROXY_NAME_LABEL } from "../compute/service-ports.ts";
import type { NodeTopology } from "../compute/usable-endpoints.ts";
import type { ProxyModel } from "../model.ts";

const SERVICE_NAME_LABEL = "kubernetes.io/service-name";
const ZONE_LABEL = "topology.kubernetes.io/zone";
/** Annotation of EndpointSlices: when the Pod or Service changed that caused the write. */
const TRIGGER_TIME = "endpoints.kubernetes.io/last-change-trigger-time";
/** Taint of the cluster autoscaler: the node is about to be removed, and load balancers should leave it. */
const TO_BE_DELETED = "ToBeDeletedByClusterAutoscaler";

/** As upstream: what this proxy does not implement is not even transferred. */
const SELECTOR = `!${PROXY_NAME_LABEL},!${HEADLESS_LABEL}`;

const slicesByService = defineIndex(endpointSlices, (slice) => [serviceKeyOf(slice)]);

export interface ModelFeedOptions {
  readonly transport: Transport;
  readonly nodeName: string;
  readonly settings: ModelSettings;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Called at every change, also before the first sync. */
  onChange(): void;
}

/** What the changes since the last `update` were. */
export interface PendingChanges {
  readonly services: number;
  readonly slices: number;
  /** Milliseconds since the epoch: the trigger times of changed EndpointSlices. */
  readonly triggeredAtMs: readonly number[];
}

/** Trigger times kept for one `update`; further ones would only make the histogram more precise. */
const TRIGGERS_MAX = 1_000;

/** Longer than a first list takes. Without the ranges, packets to unused cluster IPs leave the node until they are known. */
const RANGES_WAIT_MS = 2_000;

export class ModelFeed implements AsyncDisposable {
  readonly #options: ModelFeedOptions;
  readonly #informers: Informers;
  readonly #computation: ModelComputation;
  readonly #startedAtMs: number;
  readonly #changed = new Set<string>();
  #nodeChanged = true;
  #hadNode = false;
  #serviceChanges = 0;
  #sliceChanges = 0;
  #triggers: number[] = [];

  constructor(options: ModelFeedOptions) {
    const { nodeName, settings, clock } = options;
    this.#options = options;
    this.#startedAtMs = clock.now();
    this.#informers = createInformers(options);
    const read = this.#informers;
    const selected = { labelSelector: SELECTOR };
    const [serviceInformer, sliceInformer] = [read.of(services, selected), read.of(endpointSlices, selected)];
    const source = {
      serviceKeys: () => serviceInformer.list().map(keyOf),
      service: (key: string) => serviceInformer.get(parseKey(key)),
      slices: (key: string) => sliceInformer.indexed(slicesByService, key),
    };
    this.#computation = new ModelComputation(source, { node: { name: nodeName }, settings });
    serviceInformer.listen(forAll((service) => this.#serviceChanged(keyOf(service))));
    sliceInformer.listen(this.#sliceHandler());
    this.#nodes.listen(forAll(() => this.#nodeMayHaveChanged()));
    read.of(serviceCidrs).listen(forAll(() => options.onChange()));
  }

  get #nodes() {
    return this.#informers.of(nodes, { fieldSelector: `metadata.name=${this.#options.nodeName}` });
  }

  /** Resolves when all Services and EndpointSlices and the Node are known: a model before that would lack existing Services. */
  async synced(signal: AbortSignal): Promise<void> {
    const all = [
      this.#informers.of(services, { labelSelector: SELECTOR }),
      this.#informers.of(endpointSlices, { labelSelector: SELECTOR }),
    ];
    await Promise.all([...all.map((informer) => informer.synced(signal)), this.#nodes.synced(signal), this.#rangesSynced(signal)]);
  }

  /** An API server may not serve ServiceCIDRs, or not to this proxy; the model is then computed without them. */
  async #rangesSynced(signal: AbortSignal): Promise<void> {
    const waiting = new AbortController();
    const given = AbortSignal.any([signal, waiting.signal]);
    const enough = this.#options.clock.sleep(RANGES_WAIT_MS, given).catch(() => undefined);
    await Promise.race([this.#informers.of(serviceCidrs).synced(given), enough]).finally(() => waiting.abort());
  }

  get model(): ProxyModel {
    return this.#computation.model;
  }

  /** False if the Node was deleted or is about to be. One that does not exist yet is expected to be created: the kubelet starts later. */
  get isNodeEligible(): boolean {
    const node = this.#node();
    if (node === undefined) return !this.#hadNode;
    if (node.metadata.deletionTimestamp !== undefined) return false;
    return !(node.spec?.taints ?? []).some(({ key }) => key === TO_BE_DELETED);
  }

  get pending(): PendingChanges {
    return { services: this.#serviceChanges, slices: this.#sliceChanges, triggeredAtMs: this.#triggers };
  }

  /** Recomputes what changed. Returns the same model if that has no effect. */
  update(): ProxyModel {
    const changed = [...this.#changed];
    this.#changed.clear();
    [this.#serviceChanges, this.#sliceChanges, this.#triggers] = [0, 0, []];
    const ranges = this.#informers.of(serviceCidrs).list();
    this.#computation.setServiceCidrs(disjointCidrs(ranges.flatMap(({ spec }) => spec?.cidrs ?? [])));
    if (!this.#nodeChanged) return this.#computation.update(changed);
    this.#nodeChanged = false;
    return this.#computation.updateAll(this.#topology());
  }

  service(namespace: string, name: string) {
    return this.#informers.of(services, { labelSelector: SELECTOR }).get({ namespace, name });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#informers.close();
  }

  #serviceChanged(key: string): void {
    this.#serviceChanges++;
    this.#changed.add(key);
    this.#options.onChange();
  }

  #sliceHandler(): InformerHandler<EndpointSlice> {
    const changed = (slice: EndpointSlice) => {
      this.#sliceChanges++;
      this.#changed.add(serviceKeyOf(slice));
    };
    return {
      added: (slice) => {
        changed(slice);
        this.#noteTrigger(slice);
        this.#options.onChange();
      },
      updated: (slice, previous) => {
        // Its label may name another Service now.
        changed(previous);
        changed(slice);
        this.#sliceChanges--;
        this.#noteTrigger(slice);
        this.#options.onChange();
      },
      deleted: (slice) => {
        changed(slice);
        this.#options.onChange();
      },
    };
  }

  /** Changes from before the start are no latency of this proxy. */
  #noteTrigger({ metadata }: EndpointSlice): void {
    const atMs = Date.parse(metadata.annotations?.[TRIGGER_TIME] ?? "");
    if (atMs >= this.#startedAtMs && this.#triggers.length < TRIGGERS_MAX) this.#triggers.push(atMs);
  }

  /** Node status changes every few seconds; only the topology counts. */
  #nodeMayHaveChanged(): void {
    this.#hadNode = true;
    if (this.#computation.node.zone === this.#topology().zone) return;
    this.#nodeChanged = true;
    this.#options.onChange();
  }

  #topology(): NodeTopology {
    const zone = this.#node()?.metadata.labels?.[ZONE_LABEL];
    return { name: this.#options.nodeName, ...(zone === undefined || zone === "" ? {} : { zone }) };
  }

  #node(): Node | undefined {
    return this.#nodes.get({ name: this.#options.nodeName });
  }
}

function forAll<T extends KubeObject>(handle: (object: T) => void): InformerHandler<T> {
  return { added: handle, updated: handle, deleted: handle };
}

function keyOf({ metadata: { namespace = "", name } }: KubeObject): string {
  return `${namespace}/${name}`;
}

function parseKey(key: string): { readonly namespace: string; readonly name: string } {
  const [namespace = "", name = ""] = key.split("/");
  return { namespace, name };
}

/** A slice without the label belongs to no Service: "namespace/". */
function serviceKeyOf({ metadata: { namespace = "", labels } }: EndpointSlice): string {
  return `${namespace}/${labels?.[SERVICE_NAME_LABEL] ?? ""}`;
}
