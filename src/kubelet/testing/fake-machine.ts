/**
 * A node that behaves like one with real containers, for tests under virtual time: the kubelet probes, mounts and runs hooks; requests are
 * recorded, and the test defines their results.
 */
import type { Container, EphemeralContainer, Pod } from "../../api/generated/core/v1.ts";
import type { ContainerRun, LinuxResources, SandboxRun } from "../contracts/container-run.ts";
import type { ContainerContext, PodMachine } from "../contracts/pod-machine.ts";
import type { HttpProbeRequest, ProbeAnswer } from "../contracts/probe-actions.ts";
import type { ContainerConfig, ImageCredentials, PullOptions, Runtime } from "../contracts/runtime.ts";

/** What a test may change at any time. */
export interface FakeMachine extends PodMachine {
  /** "prepare p", "container p/c", "release p". */
  readonly calls: string[];
  onPrepare: (pod: Pod, signal: AbortSignal) => Promise<void>;
  onContainer: (pod: Pod, container: Container | EphemeralContainer, place: ContainerContext) => Promise<void>;
  onRelease: (name: string) => Promise<void>;
  onHttp: (request: HttpProbeRequest) => ProbeAnswer | Promise<ProbeAnswer>;
  onTcp: (address: string) => ProbeAnswer;
  credentialsOf: readonly ImageCredentials[];
  left: string[];
  inUse: readonly string[];
}

export const SUCCESS: ProbeAnswer = { result: "success", output: "ok", code: 200 };

export function fakeMachine(): FakeMachine {
  const calls: string[] = [];
  const names = new Map<string, string>();
  const machine: FakeMachine = {
    calls,
    left: [],
    inUse: [],
    credentialsOf: [],
    onPrepare: () => Promise.resolve(),
    onContainer: () => Promise.resolve(),
    onRelease: () => Promise.resolve(),
    onHttp: () => SUCCESS,
    onTcp: () => SUCCESS,
    async prepare(pod, signal) {
      names.set(pod.metadata.uid ?? "", pod.metadata.name);
      calls.push(`prepare ${pod.metadata.name}`);
      await machine.onPrepare(pod, signal);
    },
    sandbox: (pod) => Promise.resolve(sandboxRun(pod)),
    async container(pod, container, place) {
      calls.push(`container ${pod.metadata.name}/${container.name}`);
      await machine.onContainer(pod, container, place);
      const memoryLimit = container.resources?.limits?.["memory"];
      const resources = memoryLimit === undefined ? {} : { memoryLimitBytes: Number(memoryLimit.replace("k", "000")) };
      return { logPath: `${container.name}/${place.attempt}.log`, resources } as ContainerRun;
    },
    credentials: () => Promise.resolve(machine.credentialsOf),
    resize: () => Promise.resolve(),
    update: (pod) => void calls.push(`update ${pod.metadata.name}`),
    killProcesses: () => Promise.resolve(),
    async release(podUid) {
      const name = names.get(podUid) ?? podUid;
      calls.push(`release ${name}`);
      await machine.onRelease(name);
    },
    orphanedPods: () => Promise.resolve(machine.left),
    volumesInUse: () => machine.inUse,
    supportsRecursiveReadOnly: () => false,
    deviceHealth: () => [],
    probes: {
      http: async (request) => machine.onHttp(request),
      tcp: async (host, port) => machine.onTcp(`${host}:${port}`),
      grpc: async () => SUCCESS,
    },
  };
  return machine;
}

function sandboxRun({ metadata }: Pod): SandboxRun {
  return { hostname: metadata.name, runtimeHandler: "kata" } as SandboxRun;
}

export interface RealRuntime extends Runtime {
  readonly pulls: (PullOptions | undefined)[];
  readonly sandboxRuns: (SandboxRun | undefined)[];
  readonly configs: ContainerConfig[];
  /** Memory limits of running containers. */
  readonly resizes: (number | undefined)[];
  onResize: () => Promise<void>;
  /** Commands that were run, and their results: an exit code, or a promise of one. */
  readonly commands: string[];
  onExec: (command: string, signal: AbortSignal) => number | Promise<number>;
  onPull: (options: PullOptions | undefined) => Promise<void>;
  says: string;
}

/** A simulated runtime whose containers the kubelet has to probe itself. */
export function realRuntime(simulated: Runtime): RealRuntime {
  const own = {
    probes: "kubelet" as const,
    // It outlives the kubelet and keeps its state.
    recover: undefined,
    pulls: [] as (PullOptions | undefined)[],
    sandboxRuns: [] as (SandboxRun | undefined)[],
    configs: [] as ContainerConfig[],
    commands: [] as string[],
    resizes: [] as (number | undefined)[],
    onResize: () => Promise.resolve(),
    async updateContainer(_id: string, { memoryLimitBytes }: LinuxResources) {
      await own.onResize();
      own.resizes.push(memoryLimitBytes);
    },
    says: "",
    onExec: (_command: string, _signal: AbortSignal): number | Promise<number> => 0,
    onPull: (_options: PullOptions | undefined): Promise<void> => Promise.resolve(),
    runSandbox(pod: Pod, run?: SandboxRun) {
      own.sandboxRuns.push(run);
      return simulated.runSandbox(pod);
    },
    createContainer(id: string, config: ContainerConfig) {
      own.configs.push(config);
      return simulated.createContainer(id, config);
    },
    async pullImage(image: string, pod: Pod, options?: PullOptions) {
      own.pulls.push(options);
      await own.onPull(options);
      return simulated.pullImage(image, pod);
    },
    async exec(_id: string, command: readonly string[], streams: Parameters<Runtime["exec"]>[2], signal: AbortSignal) {
      own.commands.push(command.join(" "));
      const code = await own.onExec(command.join(" "), signal);
      await streams.error(new TextEncoder().encode(own.says));
      return code;
    },
  };
  return new Proxy(own, {
    get(target, member) {
      if (Reflect.has(target, member)) return Reflect.get(target, member, target) as unknown;
      const value: unknown = Reflect.get(simulated, member, simulated);
      return typeof value === "function" ? (value as () => unknown).bind(simulated) : value;
    },
  }) as unknown as RealRuntime;
}
