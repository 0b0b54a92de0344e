/**
 * Keeps the condition Available of APIServices: local ones are available, others by the state of their Service and by asking their server,
 * on each change and twice a minute. A server that does not respond is asked again with back-off.
 */
import type { APIService, APIServiceCondition } from "../../api/generated/apiregistration.k8s.io/v1.ts";
import { withCondition, findCondition } from "../../api/machinery/conditions.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import type { OwnRequests } from "../framework/own-requests.ts";
import { API_SERVICES, API_SERVICES_PLACE, AVAILABLE, placeOf, serviceOf, type Availability } from "./api-service.ts";
import { failedDiscovery, LOCAL, PASSED, serviceProblem } from "./availability.ts";
import { KeyWorker } from "./key-worker.ts";
import { probe } from "./probe.ts";
import { remoteServerOf, type RemoteContext } from "./remote-server.ts";
import { readServiceState } from "./service-state.ts";

/** A network may break without any object changing. As upstream. */
const RESYNC_MS = 30_000;
const WORKERS = 5;
const RETRY = { minMs: 5, maxMs: 30_000 };

export interface AvailabilityContext extends RemoteContext {
  readonly requests: OwnRequests;
  /** Called with each transition, for metrics. */
  changed(name: string, availability: Availability): void;
}

/** A server that is asked again soon: it may just be starting. */
class NotAvailable extends Error {
  override readonly name = "NotAvailable";
}

export class AvailabilityController {
  readonly #context: AvailabilityContext;
  readonly #worker: KeyWorker;

  constructor(context: AvailabilityContext) {
    this.#context = context;
    const { clock, log } = context;
    const reconcile = (name: string): Promise<number | undefined> => this.#reconcile(name);
    this.#worker = new KeyWorker({
      name: "Checking the availability of an APIService",
      workers: WORKERS,
      retry: RETRY,
      clock,
      log,
      reconcile,
    });
  }

  /** By the APIService's name. */
  add(name: string): void {
    this.#worker.add(name);
  }

  start(): void {
    this.#worker.start();
  }

  close(): void {
    this.#worker.close();
  }

  async #reconcile(name: string): Promise<number | undefined> {
    const apiService = await this.#context.objects.get<APIService>(API_SERVICES, { namespace: "", name });
    if (apiService === undefined) return undefined;
    const availability = await this.#availabilityOf(apiService);
    await this.#report(apiService, availability);
    if (availability.reason === "FailedDiscoveryCheck") throw new NotAvailable(availability.message);
    return availability.reason === LOCAL.reason ? undefined : RESYNC_MS;
  }

  async #availabilityOf(apiService: APIService): Promise<Availability> {
    const service = serviceOf(apiService);
    const server = remoteServerOf(this.#context, apiService);
    if (service === undefined || server === undefined) return LOCAL;
    const problem = serviceProblem(service, await readServiceState(this.#context.objects, service));
    if (problem !== undefined) return problem;
    const failure = await probe(server, placeOf(apiService), this.#context.clock);
    return failure === undefined ? PASSED : failedDiscovery(failure);
  }

  /** Only if it differs: this runs twice a minute. */
  async #report(apiService: APIService, availability: Availability): Promise<void> {
    const { clock, requests, changed } = this.#context;
    const { name } = apiService.metadata;
    const previous = findCondition(apiService.status?.conditions, AVAILABLE);
    const isSame = (["status", "reason", "message"] as const).every((member) => (previous?.[member] ?? "") === availability[member]);
    if (isSame) return;
    const condition: Omit<APIServiceCondition, "lastTransitionTime"> = { type: AVAILABLE, ...availability };
    const conditions = withCondition<APIServiceCondition>(apiService.status?.conditions, condition, clock.now());
    const object = { ...apiService, status: { ...apiService.status, conditions } } as KubeObject;
    await requests.because({ key: name, reason: availability.reason }).put(API_SERVICES_PLACE, object, "status");
    changed(name, availability);
  }
}
