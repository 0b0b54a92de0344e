/**
 * Serves custom resources: follows the CustomResourceDefinitions, gives them their status, and serves the resource of each one whose names
 * are accepted, as soon as its status says so. Each API server does this for itself; of several that write the same status
 * the first wins. Objects then go through the ordinary engine: nothing else in the server knows custom resources.
 */
import { deepEqual } from "../../base/deep.ts";
import type { CustomResourceDefinition, CustomResourceDefinitionNames } from "../../api/generated/apiextensions.k8s.io/v1.ts";
import { renamingConversion } from "../../api/apiextensions.k8s.io/v1/custom-resource/conversion.ts";
import { customResourceOf, type CustomResourceOptions } from "../../api/apiextensions.k8s.io/v1/custom-resource/resource.ts";
import { celRules } from "../../api/apiextensions.k8s.io/v1/rules/cel-rules.ts";
import { ruleEvaluation } from "../../api/apiextensions.k8s.io/v1/rules/evaluate-rules.ts";
import { isConditionTrue } from "../../api/machinery/conditions.ts";
import type { Resource } from "../../api/machinery/resource.ts";
import type { MetricFamilies } from "../framework/document.ts";
import type { KindName } from "../framework/objects.ts";
import type { OwnRequests, Place } from "../framework/own-requests.ts";
import type { ServerContext } from "../framework/server-context.ts";
import { newUid } from "../../base/uuid.ts";
import { cleanUp, hasFinalizer } from "./cleanup.ts";
import { withNextStatus, type UsedNames } from "./definition-status.ts";
import { ConversionMetrics } from "./conversion-metrics.ts";
import { webhookConversion } from "./webhook-conversion.ts";
import { NamedQueue } from "./named-queue.ts";

const DEFINITIONS: KindName = { group: "apiextensions.k8s.io", plural: "customresourcedefinitions" };
const PLACE: Place = { ...DEFINITIONS, version: "v1", namespace: "" };

export interface CustomResourcesOptions {
  readonly server: ServerContext;
  readonly requests: OwnRequests;
}

/** One definition as far as it is known here. */
interface Known {
  definition: CustomResourceDefinition;
  /** Absent: not served. */
  served?: Served;
}

interface Served {
  readonly resource: Resource;
  readonly definition: CustomResourceDefinition;
}

export class CustomResources {
  readonly #options: CustomResourcesOptions;
  readonly #known = new Map<string, Known>();
  /** One at a time, so that two definitions cannot be given the same name. */
  readonly #statuses: NamedQueue;
  readonly #cleanups: NamedQueue;
  readonly #conversions = new ConversionMetrics();

  constructor(options: CustomResourcesOptions) {
    const { clock, log } = options.server;
    this.#options = options;
    this.#statuses = new NamedQueue({ clock, log, what: "Updating the status of a CustomResourceDefinition" }, (name) =>
      this.#reconcile(name),
    );
    this.#cleanups = new NamedQueue(
      { clock, log, what: "Deleting the objects of a CustomResourceDefinition", isConcurrent: true },
      (name, signal) => this.#cleanUp(name, signal),
    );
  }

  /** Resolves when all present definitions are served. */
  async start(): Promise<void> {
    const { endpoints, objects } = this.#options.server;
    if (endpoints.stored(DEFINITIONS.group, DEFINITIONS.plural) === undefined) return;
    await objects.follow(DEFINITIONS, {
      put: (object) => this.#put(object as CustomResourceDefinition),
      remove: ({ metadata }) => this.#remove(metadata.name),
      reset: () => this.#reset(),
    });
  }

  close(): void {
    this.#statuses.close();
    this.#cleanups.close();
  }

  #put(definition: CustomResourceDefinition): void {
    const { name } = definition.metadata;
    const known: Known = this.#known.get(name) ?? { definition };
    known.definition = definition;
    this.#known.set(name, known);
    this.#serve(known);
    if (definition.metadata.deletionTimestamp !== undefined && hasFinalizer(definition)) this.#cleanups.add(name);
    else this.#statuses.add(name);
  }

  #remove(name: string): void {
    const known = this.#known.get(name);
    if (known === undefined) return;
    this.#known.delete(name);
    if (known.served !== undefined) this.#options.server.endpoints.remove(known.served.resource);
    this.#reconsiderGroup(known.definition.spec.group);
  }

  /** The present definitions are put again, in this event-loop tick; those that are not are deleted. */
  #reset(): void {
    const before = new Map([...this.#known].map(([name, { definition }]) => [name, definition]));
    void Promise.resolve().then(() => {
      for (const [name, definition] of before) if (this.#known.get(name)?.definition === definition) this.#remove(name);
    });
  }

  /** A name may have become free. */
  #reconsiderGroup(group: string): void {
    for (const [name, { definition }] of this.#known) {
      if (definition.spec.group === group && !isConditionTrue(definition.status?.conditions, "NamesAccepted")) this.#statuses.add(name);
    }
  }

  #serve(known: Known): void {
    const { definition, served } = known;
    const { endpoints } = this.#options.server;
    if (!isServable(definition)) return;
    if (served !== undefined && isSameResource(served.definition, definition)) return;
    if (served === undefined && this.#isTaken(definition)) return;
    const { resource, schemas } = customResourceOf(definition, {
      ...this.#conversionOf(definition),
      compileRules: (schema) => ruleEvaluation(celRules, schema),
      // Also when only finalizers of others remain: upstream then accepts objects that outlive the definition.
      isTerminating: () => known.definition.metadata.deletionTimestamp !== undefined || this.#known.get(definition.metadata.name) !== known,
    });
    known.served = { resource, definition };
    if (served === undefined) endpoints.add(resource, schemas);
    else endpoints.replace(served.resource, resource, schemas);
  }

  metricFamilies(): MetricFamilies {
    return this.#conversions.families();
  }

  /** A definition with one version needs none. */
  #conversionOf(definition: CustomResourceDefinition): Pick<CustomResourceOptions, "conversion"> {
    const { spec } = definition;
    const { webhooks, clock, random } = this.#options.server;
    if (spec.versions.length === 1) return {};
    const { strategy, webhook } = spec.conversion ?? { strategy: "None" };
    if (strategy !== "Webhook" || webhook === undefined) return { conversion: renamingConversion(spec) };
    return {
      conversion: webhookConversion(definition, webhook, { webhooks, clock, metrics: this.#conversions, newUid: () => newUid(random) }),
    };
  }

  /** A built-in resource has the same path: it stays, as upstream. */
  #isTaken({ metadata, spec }: CustomResourceDefinition): boolean {
    const { endpoints, log } = this.#options.server;
    const isTaken = spec.versions.some(({ name }) => endpoints.find(spec.group, name, spec.names.plural) !== undefined);
    if (isTaken) log.warn("A built-in resource has the names of a CustomResourceDefinition, which is not served", { name: metadata.name });
    return isTaken;
  }

  async #reconcile(name: string): Promise<void> {
    const known = this.#known.get(name);
    if (known === undefined || known.definition.metadata.deletionTimestamp !== undefined) return;
    const { definition } = known;
    const next = withNextStatus(definition, this.#usedBesides(definition), this.#options.server.clock.now());
    if (next === definition) return;
    await this.#write(next, "StatusChanged");
    this.#reconsiderGroup(definition.spec.group);
  }

  #usedBesides({ metadata, spec }: CustomResourceDefinition): UsedNames {
    const resources = new Set<string>();
    const kinds = new Set<string>();
    for (const [name, { definition }] of this.#known) {
      if (name === metadata.name || definition.spec.group !== spec.group) continue;
      const accepted: Partial<CustomResourceDefinitionNames> = definition.status?.acceptedNames ?? {};
      for (const each of [accepted.plural, accepted.singular, ...(accepted.shortNames ?? [])]) if (each !== undefined) resources.add(each);
      for (const each of [accepted.kind, accepted.listKind]) if (each !== undefined) kinds.add(each);
    }
    resources.delete("");
    kinds.delete("");
    return { resources, kinds };
  }

  #cleanUp(name: string, signal: AbortSignal): Promise<void> {
    const { server } = this.#options;
    return cleanUp(
      { server, current: () => this.#known.get(name)?.definition, write: (definition) => this.#write(definition, "InstanceDeletion") },
      signal,
    );
  }

  /** If another writer was first, its change is put here and leads to the next attempt. */
  #write(definition: CustomResourceDefinition, reason: string): Promise<void> {
    const { name } = definition.metadata;
    return this.#options.requests.because({ key: name, reason }).put(PLACE, definition, "status");
  }
}

/** As upstream: from the acceptance of its names on, even if it later asks for a name that is taken. */
function isServable({ status, spec }: CustomResourceDefinition): boolean {
  const isAccepted = isConditionTrue(status?.conditions, "NamesAccepted") || isConditionTrue(status?.conditions, "Established");
  return isAccepted && (status?.acceptedNames?.plural ?? "") !== "" && spec.versions.some(({ served, storage }) => served || storage);
}

function isSameResource(one: CustomResourceDefinition, other: CustomResourceDefinition): boolean {
  if (one.metadata.uid !== other.metadata.uid) return false;
  return deepEqual(one.spec, other.spec) && deepEqual(one.status?.acceptedNames, other.status?.acceptedNames);
}
