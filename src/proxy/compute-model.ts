/**
 * The model of a node from Services, EndpointSlices and its topology. A change costs the recomputation of its Services only; equal inputs
 * give equal models, and whatever did not change keeps its identity. Not here: the rules per Service (compute/).
 */
import type { Service } from "../api/generated/core/v1.ts";
import type { EndpointSlice } from "../api/generated/discovery.k8s.io/v1.ts";
import { deepEqual } from "../base/deep.ts";
import { computeService, type ComputedService } from "./compute/service-ports.ts";
import type { NodeTopology } from "./compute/usable-endpoints.ts";
import type { HealthCheck, ProxyModel, ServicePort } from "./model.ts";

/** What the model is computed from. Keys are "namespace/name" of Services. */
export interface ModelSource {
  serviceKeys(): Iterable<string>;
  service(key: string): Service | undefined;
  /** In a stable order. */
  slices(key: string): readonly EndpointSlice[];
}

export type ModelSettings = Pick<ProxyModel, "nodePortAddresses" | "podCidrs" | "nodeIps">;

export class ModelComputation {
  readonly #source: ModelSource;
  readonly #computed = new Map<string, ComputedService>();
  #node: NodeTopology;
  #model: ProxyModel;

  constructor(source: ModelSource, { node, settings }: { readonly node: NodeTopology; readonly settings: ModelSettings }) {
    this.#source = source;
    this.#node = node;
    this.#model = { ...settings, servicePorts: new Map(), serviceCidrs: [], healthChecks: [], announcedIps: [] };
  }

  get model(): ProxyModel {
    return this.#model;
  }

  get node(): NodeTopology {
    return this.#node;
  }

  setServiceCidrs(serviceCidrs: readonly string[]): void {
    if (!deepEqual(this.#model.serviceCidrs, serviceCidrs)) this.#model = { ...this.#model, serviceCidrs };
  }

  /** Recomputes everything. */
  updateAll(node: NodeTopology = this.#node): ProxyModel {
    this.#node = node;
    return this.update(new Set([...this.#computed.keys(), ...this.#source.serviceKeys()]));
  }

  /** Recomputes these Services. Returns the same model if nothing changed. */
  update(keys: Iterable<string>): ProxyModel {
    const ports = new PortChanges(this.#model.servicePorts);
    let [healthChanged, announcedChanged] = [false, false];
    for (const key of keys) {
      const before = this.#computed.get(key);
      const now = computeService(this.#source.service(key), this.#source.slices(key), this.#node);
      if (deepEqual(before ?? { ports: [] }, now)) continue;
      ports.replace(before?.ports ?? [], now.ports);
      healthChanged ||= !deepEqual(before?.healthCheck, now.healthCheck);
      announcedChanged ||= !deepEqual(before?.announcedIps ?? [], now.announcedIps ?? []);
      if (now.ports.length === 0) this.#computed.delete(key);
      else this.#computed.set(key, now);
    }
    const servicePorts = ports.result();
    if (servicePorts === this.#model.servicePorts && !healthChanged && !announcedChanged) return this.#model;
    return (this.#model = {
      ...this.#model,
      servicePorts,
      ...(healthChanged ? { healthChecks: this.#healthChecks() } : {}),
      ...(announcedChanged ? { announcedIps: this.#announcedIps() } : {}),
    });
  }

  #announcedIps(): readonly string[] {
    return [...new Set([...this.#computed.values()].flatMap(({ announcedIps }) => announcedIps ?? []))].sort();
  }

  #healthChecks(): readonly HealthCheck[] {
    const keyOf = ({ namespace, name }: HealthCheck) => `${namespace}/${name}`;
    const found = [...this.#computed.values()].flatMap(({ healthCheck }) => healthCheck ?? []);
    return found.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  }
}

/** Collects changes of a sorted map; unchanged values keep their identity, and so does the map if nothing changes. */
class PortChanges {
  readonly #before: ReadonlyMap<string, ServicePort>;
  readonly #changed = new Map<string, ServicePort | undefined>();

  constructor(before: ReadonlyMap<string, ServicePort>) {
    this.#before = before;
  }

  replace(before: readonly ServicePort[], now: readonly ServicePort[]): void {
    for (const { key } of before) this.#changed.set(key, undefined);
    for (const port of now) {
      if (deepEqual(this.#before.get(port.key), port)) this.#changed.delete(port.key);
      else this.#changed.set(port.key, port);
    }
  }

  result(): ReadonlyMap<string, ServicePort> {
    if (this.#changed.size === 0) return this.#before;
    const all = new Map(this.#before);
    let isSorted = true;
    for (const [key, port] of this.#changed) {
      if (port === undefined) all.delete(key);
      else {
        isSorted &&= all.has(key);
        all.set(key, port);
      }
    }
    return isSorted ? all : new Map([...all].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}
