/**
 * Keeps the APIServices of what this server serves itself: those of built-in groups are created when the server starts, those of custom
 * resources follow their definitions. The label says which are managed and how; an APIService without it belongs to its user.
 */
import type { APIService } from "../../api/generated/apiregistration.k8s.io/v1.ts";
import type { CustomResourceDefinition } from "../../api/generated/apiextensions.k8s.io/v1.ts";
import type { GroupVersion } from "../../api/machinery/object.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { ApiPriority } from "../framework/apis/aggregation.ts";
import type { Objects } from "../framework/objects.ts";
import type { OwnRequests } from "../framework/own-requests.ts";
import { API_SERVICES, API_SERVICES_PLACE } from "./api-service.ts";
import { builtInPriority, CUSTOM_RESOURCE_PRIORITY } from "./built-in-priorities.ts";
import { KeyWorker } from "./key-worker.ts";

export const MANAGED_LABEL = "kube-aggregator.kubernetes.io/automanaged";
/** Synchronised once, when the server starts. */
const ON_START = "onstart";
/** Synchronised continuously. */
const ALWAYS = "true";

const DEFINITIONS = { group: "apiextensions.k8s.io", plural: "customresourcedefinitions" };
const WORKERS = 1;
/** As upstream's controllers. */
const RETRY = { minMs: 5, maxMs: 1_000_000 };

export interface RegistrationContext {
  readonly objects: Objects;
  readonly requests: OwnRequests;
  readonly clock: Clock;
  readonly log: Logger;
}

export class AutoRegistration {
  readonly #context: RegistrationContext;
  readonly #worker: KeyWorker;
  /** Versions of custom resources by the name of their APIService, with the number of definitions that serve them. */
  readonly #custom = new Map<string, { readonly place: GroupVersion; definitions: number }>();

  constructor(context: RegistrationContext) {
    this.#context = context;
    const { clock, log } = context;
    const reconcile = (name: string): Promise<undefined> => this.#reconcile(name);
    this.#worker = new KeyWorker({ name: "Registering an APIService", workers: WORKERS, retry: RETRY, clock, log, reconcile });
  }

  /** Resolves when every served group and version is registered. `served`: the built-in ones. */
  async start(served: Iterable<GroupVersion>): Promise<void> {
    const { objects } = this.#context;
    await objects.follow(DEFINITIONS, {
      put: (object, previous) => this.#definitionPut(object as CustomResourceDefinition, previous as CustomResourceDefinition | undefined),
      remove: (object) => this.#count(object as CustomResourceDefinition, -1),
      reset: () => this.#forgetAll(),
    });
    const desired = new Map<string, APIService>();
    for (const place of served) {
      const priority = builtInPriority(place);
      if (priority !== undefined) desired.set(nameOf(place), managed(place, priority, ON_START));
    }
    for (const [name, { place }] of this.#custom) desired.set(name, managed(place, CUSTOM_RESOURCE_PRIORITY, ALWAYS));
    const present = await objects.list<APIService>(API_SERVICES, "");
    const names = new Set([...desired.keys(), ...present.map(({ metadata }) => metadata.name)]);
    for (const name of names) await this.#apply(name, desired.get(name), { isStart: true });
    this.#worker.start();
  }

  /** An APIService was changed or deleted. */
  changed(apiService: APIService): void {
    const { name, labels } = apiService.metadata;
    if (this.#custom.has(name) || labels?.[MANAGED_LABEL] === ALWAYS) this.#worker.add(name);
  }

  close(): void {
    this.#worker.close();
  }

  #definitionPut(definition: CustomResourceDefinition, previous: CustomResourceDefinition | undefined): void {
    if (previous?.spec === definition.spec) return;
    this.#count(definition, 1);
    if (previous !== undefined) this.#count(previous, -1);
  }

  #count({ spec }: CustomResourceDefinition, change: 1 | -1): void {
    for (const { name: version, served } of spec.versions) {
      if (!served) continue;
      const place = { group: spec.group, version };
      const name = nameOf(place);
      const entry = this.#custom.get(name) ?? { place, definitions: 0 };
      entry.definitions += change;
      if (entry.definitions > 0) this.#custom.set(name, entry);
      else this.#custom.delete(name);
      this.#worker.add(name);
    }
  }

  #forgetAll(): void {
    for (const name of this.#custom.keys()) this.#worker.add(name);
    this.#custom.clear();
  }

  async #reconcile(name: string): Promise<undefined> {
    const custom = this.#custom.get(name);
    await this.#apply(name, custom && managed(custom.place, CUSTOM_RESOURCE_PRIORITY, ALWAYS), { isStart: false });
    return undefined;
  }

  async #apply(name: string, desired: APIService | undefined, options: { readonly isStart: boolean }): Promise<void> {
    const { objects } = this.#context;
    const requests = this.#context.requests.because({ key: name, reason: "AutoRegistration" });
    const current = await objects.get<APIService>(API_SERVICES, { namespace: "", name });
    const step = registrationStep(current, desired, options);
    if (step.is === "create") await requests.makeMissing(API_SERVICES_PLACE, step.object);
    else if (step.is === "update") await requests.put(API_SERVICES_PLACE, step.object);
    else if (step.is === "delete") await requests.remove(API_SERVICES_PLACE, step.object);
  }
}

export type RegistrationStep = { readonly is: "create" | "update" | "delete"; readonly object: APIService } | { readonly is: "nothing" };

const NOTHING: RegistrationStep = { is: "nothing" };

/** Upstream's table: who manages the present one decides. */
export function registrationStep(
  current: APIService | undefined,
  desired: APIService | undefined,
  { isStart }: { readonly isStart: boolean },
): RegistrationStep {
  if (current === undefined) return desired === undefined ? NOTHING : { is: "create", object: desired };
  const managedBy = current.metadata.labels?.[MANAGED_LABEL];
  if (managedBy !== ALWAYS && !(managedBy === ON_START && isStart)) return NOTHING;
  if (desired === undefined) return { is: "delete", object: current };
  if (isSameLocal(current, desired)) return NOTHING;
  return { is: "update", object: { ...current, ...(desired.spec === undefined ? {} : { spec: desired.spec }) } };
}

function isSameLocal({ spec: current }: APIService, { spec: desired }: APIService): boolean {
  if (current?.service !== undefined || current?.caBundle !== undefined || current?.insecureSkipTLSVerify === true) return false;
  return (["groupPriorityMinimum", "versionPriority"] as const).every((member) => current?.[member] === desired?.[member]);
}

/** Upstream's name: VERSION.GROUP. */
export function nameOf({ group, version }: GroupVersion): string {
  return `${version}.${group}`;
}

function managed({ group, version }: GroupVersion, priority: ApiPriority, label: string): APIService {
  return {
    apiVersion: "apiregistration.k8s.io/v1",
    kind: "APIService",
    metadata: { name: nameOf({ group, version }), labels: { [MANAGED_LABEL]: label } },
    spec: { ...(group === "" ? {} : { group }), version, groupPriorityMinimum: priority.group, versionPriority: priority.version },
  };
}
