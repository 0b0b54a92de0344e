/**
 * The components of the control plane that can be stopped, crashed and started one by one while the page watches: the scheduler and the
 * controller manager, each leader-elected by upstream's Lease, with any number of standby instances. Not here: the API server, without
 * which the page has no cluster, and the nodes.
 */
import { KUBE_SCHEDULER, type IdentityName } from "../../api/identities.ts";
import { StatusError } from "../../api/machinery/status-error.ts";
import type { Transport } from "../../api/machinery/transport.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import { CONTROLLER_MANAGER_AGENT } from "../../components/controllers.ts";
import { startLeaderElectedComponent, type LeaderElectedComponent } from "../../components/leader-election/leader-elected-component.ts";
import { CONTROLLER_MANAGER_LEASE, startLeaderElectedControllers } from "../../components/leader-election/leader-elected-controllers.ts";
import type { ControllerSettings } from "../../controllers/all.ts";
import { defaultSchedulerConfiguration } from "../../scheduler/config/read-configuration.ts";
import type { PluginCatalog } from "../../scheduler/config/scheduler-configuration.ts";
import { all as plugins } from "../../scheduler/plugins/all.ts";
import { startScheduler, type RunningScheduler } from "../../scheduler/scheduler.ts";

export const COMPONENT_KINDS = ["kube-scheduler", "kube-controller-manager"] as const;
export type ComponentKind = (typeof COMPONENT_KINDS)[number];

/** More instances than any lesson needs; each standby polls its Lease. */
export const INSTANCES_MAX = 5;

export interface ComponentState {
  /** "kube-scheduler", and "kube-scheduler-2" of the second instance: the holder identity in the Lease. */
  readonly name: string;
  readonly kind: ComponentKind;
  readonly state: "leading" | "standby" | "stopped" | "crashed";
}

export interface Components {
  list(): readonly ComponentState[];
  /** Starts one more instance of a kind; resolves with its name. */
  add(kind: ComponentKind): Promise<string>;
  /** Ends it like SIGTERM: it releases its Lease. */
  stop(name: string): Promise<void>;
  /** Ends it like SIGKILL: it sends nothing more, and its Lease has to expire. */
  crash(name: string): Promise<void>;
  start(name: string): Promise<void>;
}

export interface ComponentsOptions {
  transportFor(identity: IdentityName, userAgent: string): Transport;
  readonly settings: ControllerSettings;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

interface Instance {
  readonly name: string;
  readonly kind: ComponentKind;
  running: { readonly part: LeaderElectedComponent<RunningScheduler | RunningPart>; readonly switch: PowerSwitch } | undefined;
  hasCrashed: boolean;
}

type RunningPart = Awaited<ReturnType<typeof startLeaderElectedControllers>["started"]>;

const SCHEDULER_AGENT = "kube-scheduler";
const SCHEDULER_LEASE = { namespace: "kube-system", name: "kube-scheduler" };
const CATALOG: PluginCatalog = { defaults: plugins };
/** As a cluster that starts all its components: with those for bootstrap tokens, as kubeadm. */
const CONTROLLERS = ["*", "bootstrap-signer-controller", "token-cleaner-controller"];

export class ControlPlaneComponents implements Components, AsyncDisposable {
  readonly #options: ComponentsOptions;
  readonly #instances: Instance[] = [];
  #starts = 0;

  constructor(options: ComponentsOptions) {
    this.#options = options;
  }

  /** Starts one instance of each kind; resolves when they lead. */
  async startAll(): Promise<void> {
    for (const kind of COMPONENT_KINDS) await this.add(kind);
    for (const { running } of this.#instances) await running?.part.started;
  }

  list(): readonly ComponentState[] {
    return this.#instances.map(({ name, kind, running, hasCrashed }) => {
      if (running === undefined) return { name, kind, state: hasCrashed ? "crashed" : "stopped" };
      return { name, kind, state: running.part.isLeading() ? "leading" : "standby" };
    });
  }

  /** The scheduler that leads. */
  scheduler(): RunningScheduler | undefined {
    for (const { kind, running } of this.#instances) {
      const acting = kind === "kube-scheduler" ? running?.part.acting() : undefined;
      if (acting !== undefined) return acting as RunningScheduler;
    }
    return undefined;
  }

  async add(kind: ComponentKind): Promise<string> {
    const count = this.#instances.filter((instance) => instance.kind === kind).length;
    if (count >= INSTANCES_MAX) throw new Error(`Cannot add ${kind}: there are ${INSTANCES_MAX}, the maximum`);
    const name = count === 0 ? kind : `${kind}-${count + 1}`;
    const instance: Instance = { name, kind, running: undefined, hasCrashed: false };
    this.#instances.push(instance);
    await this.start(name);
    return name;
  }

  async start(name: string): Promise<void> {
    const instance = this.#known(name);
    if (instance.running !== undefined) throw new Error(`${name} is already running`);
    const power = new PowerSwitch();
    instance.hasCrashed = false;
    instance.running = { part: this.#startPart(instance, power), switch: power };
  }

  async stop(name: string): Promise<void> {
    const instance = this.#known(name);
    const { running } = instance;
    if (running === undefined) throw new Error(`${name} is not running`);
    instance.running = undefined;
    await running.part[Symbol.asyncDispose]();
  }

  async crash(name: string): Promise<void> {
    const instance = this.#known(name);
    const { running } = instance;
    if (running === undefined) throw new Error(`${name} is not running`);
    instance.running = undefined;
    instance.hasCrashed = true;
    running.switch.off();
    // What is left of it can reach nothing: when it has noticed that does not matter.
    running.part[Symbol.asyncDispose]().then(undefined, () => undefined);
  }

  #startPart({ name, kind }: Instance, power: PowerSwitch): LeaderElectedComponent<RunningScheduler | RunningPart> {
    const { clock, random: all, settings } = this.#options;
    const random = all.derive(`${name} ${++this.#starts}`);
    const log = this.#options.log.with({ part: name });
    const common = { clock, random, log, isFenced: false };
    if (kind === "kube-controller-manager")
      return startLeaderElectedControllers({
        ...common,
        controllers: CONTROLLERS,
        settings,
        transportFor: (identity) => power.connect(this.#options.transportFor(identity, CONTROLLER_MANAGER_AGENT)),
        election: { lease: CONTROLLER_MANAGER_LEASE, identity: name },
      });
    const configuration = defaultSchedulerConfiguration(CATALOG);
    return startLeaderElectedComponent<RunningScheduler>({
      ...common,
      identity: KUBE_SCHEDULER,
      transportFor: (identity) => power.connect(this.#options.transportFor(identity, SCHEDULER_AGENT)),
      election: { lease: SCHEDULER_LEASE, identity: name },
      start: (transportFor, signal) =>
        startScheduler({ transport: transportFor(KUBE_SCHEDULER), configuration, catalog: CATALOG, clock, random, log, signal }),
    });
  }

  #known(name: string): Instance {
    const found = this.#instances.find((instance) => instance.name === name);
    if (found !== undefined) return found;
    throw new Error(`Component "${name}" does not exist: there are ${this.#instances.map((instance) => instance.name).join(", ")}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { name, running } of this.#instances.toReversed()) if (running !== undefined) await this.stop(name);
  }
}

/** Connects a component to the API server until it is switched off. */
class PowerSwitch {
  readonly #stop = new AbortController();

  off(): void {
    this.#stop.abort(new StatusError("ServiceUnavailable", "The component has crashed"));
  }

  connect(transport: Transport): Transport {
    const { signal } = this.#stop;
    const refuse = (): Promise<never> => Promise.reject(signal.reason as Error);
    return {
      request: (request) => (signal.aborted ? refuse() : transport.request(request)),
      watch: (request, listener) => (signal.aborted ? refuse() : transport.watch(request, listener)),
      document: (path, options) => (signal.aborted ? refuse() : transport.document(path, options)),
    };
  }
}
