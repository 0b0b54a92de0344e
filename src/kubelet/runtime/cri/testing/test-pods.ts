/** Pods for tests of this driver, with the minimum that a runtime needs to run them. A machine adds much more. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { randomUUID } from "node:crypto";
import type { Container, Pod } from "../../../../api/generated/core/v1.ts";
import type { ContainerRun, ContainerSecurity, SandboxRun } from "../../../contracts/container-run.ts";
import { CriRuntime } from "../cri-runtime.ts";
import type { Program } from "../../../testing/runtime-suite.ts";

/**
 * PID 1 of a namespace gets only signals that it handles. So programs that exit on SIGTERM share the Pod's namespace, where they are not
 * PID 1; the stubborn one needs only its own.
 */
export const PROGRAMS: Readonly<Record<Program, ShellProgram>> = {
  waits: { script: "exec sleep 3600", sharesProcesses: true },
  completes: { script: "printf done > /dev/termination-log" },
  fails: { script: "exit 3" },
  stubborn: { script: "echo stubborn; exec sleep 3600" },
  talks: { script: "for word in one two three; do echo $word; usleep 20000; done; exec sleep 3600", sharesProcesses: true },
};

export interface ShellProgram {
  readonly script: string;
  readonly sharesProcesses?: boolean;
}

export interface Place {
  /** Directory of logs and termination messages. */
  readonly directory: string;
  readonly cgroupParent: string;
}

/** A new one, with a container "main" that runs the script. */
export function shellPod(name: string, image: string, program: ShellProgram, container: Partial<Container> = {}): Pod {
  const { script, sharesProcesses = false } = program;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default", uid: randomUUID() },
    spec: { shareProcessNamespace: sharesProcesses, containers: [{ name: "main", image, command: ["sh", "-c", script], ...container }] },
  };
}

/** The same runtime, which computes by itself how Pods are run. */
export function withPlainRuns(runtime: CriRuntime, place: Place): CriRuntime {
  const { runSandbox, createContainer } = CriRuntime.prototype;
  runtime.runSandbox = (pod, run = sandboxRun(pod, place)) => runSandbox.call(runtime, pod, run);
  runtime.createContainer = (id, config) => {
    const { pod, container, attempt } = config;
    const run = config.run ?? containerRun(pod, container, attempt, place);
    return createContainer.call(runtime, id, { ...config, run, sandboxRun: sandboxRun(pod, place) });
  };
  return runtime;
}

function sandboxRun(pod: Pod, { directory, cgroupParent }: Place): SandboxRun {
  const { namespace, name, uid = "" } = pod.metadata;
  return {
    hostname: pod.spec?.hostNetwork === true ? "" : name,
    logDirectory: join(directory, "logs", `${namespace}_${name}_${uid}`),
    portMappings: [],
    labels: pod.metadata.labels ?? {},
    annotations: {},
    cgroupParent: `${cgroupParent}/pod${uid}`,
    sysctls: {},
    security: security(pod),
    runtimeHandler: "",
  };
}

export function containerRun(pod: Pod, container: Container, attempt: number, { directory }: Place): ContainerRun {
  const words = join(directory, "words", pod.metadata.uid ?? "");
  mkdirSync(words, { recursive: true });
  const hostPath = join(words, `${container.name}-${attempt}`);
  writeFileSync(hostPath, "", { mode: 0o666, flag: "a" });
  const memory = container.resources?.limits?.memory;
  return {
    command: container.command ?? [],
    args: container.args ?? [],
    workingDirectory: "",
    environment: (container.env ?? []).map(({ name, value = "" }) => ({ name, value })),
    mounts: [],
    devices: [],
    labels: {},
    annotations: {},
    logPath: `${container.name}/${attempt}.log`,
    stdin: false,
    stdinOnce: false,
    tty: false,
    resources: memory === undefined ? {} : { memoryLimitBytes: Number(memory) },
    security: security(pod),
    terminationMessage: { hostPath, fallsBackToLogs: container.terminationMessagePolicy === "FallbackToLogsOnError" },
  };
}

function security(pod: Pod): ContainerSecurity {
  return {
    namespaces: {
      network: pod.spec?.hostNetwork === true ? "node" : "pod",
      pid: pod.spec?.shareProcessNamespace === true ? "pod" : "container",
      ipc: "pod",
    },
    supplementalGroups: [],
    supplementalGroupsPolicy: "Merge",
    privileged: false,
    readOnlyRoot: false,
    addCapabilities: [],
    dropCapabilities: [],
    noNewPrivileges: false,
    maskedPaths: [],
    readOnlyPaths: [],
  };
}
