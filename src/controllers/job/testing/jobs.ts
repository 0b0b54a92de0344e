/** Jobs and Pods for tests of the Job controller, and a kubelet that only decides how Pods end. */
import { jobs } from "../../../api/batch/v1/job.ts";
import { pods } from "../../../api/core/v1/pod.ts";
import type { Job, JobSpec, JobStatus } from "../../../api/generated/batch/v1.ts";
import type { Pod, PodStatus } from "../../../api/generated/core/v1.ts";
import { formatTime } from "../../../api/machinery/time.ts";
import type { Given } from "../../../testing/given.ts";
import { defineController, onChange, watch, type Controller } from "../../runtime/controller.ts";
import { itself } from "../../runtime/keys.ts";
import { setStatus } from "../../runtime/testing/pods.ts";
import { COMPLETION_INDEX, INDEX_FAILURES, TRACKING_FINALIZER } from "../job-pods.ts";

export const WORK = { namespace: "default", name: "work" };

export function aJob(spec: Partial<JobSpec> = {}, restartPolicy = "Never") {
  const template = { spec: { restartPolicy, containers: [{ name: "main", image: "busybox" }] } };
  return { apiVersion: "batch/v1", kind: "Job", metadata: WORK, spec: { template, ...spec } };
}

/** A Job as the controller reads it, for tests of pure decisions. */
export function jobWith(spec: Partial<JobSpec>, status: JobStatus = {}): Job {
  const defaults = { parallelism: 1, backoffLimit: 6, template: { spec: { containers: [] } } };
  return { apiVersion: "batch/v1", kind: "Job", metadata: { ...WORK, uid: "job" }, spec: { ...defaults, ...spec }, status };
}

export interface PodFacts {
  readonly phase?: NonNullable<PodStatus["phase"]>;
  readonly index?: number;
  /** Failures of the index before it. */
  readonly failures?: number;
  readonly isTracked?: boolean;
  readonly isTerminating?: boolean;
  readonly isReady?: boolean;
  /** Of its container; the Pod ended then. */
  readonly finishedMs?: number;
  readonly exitCode?: number;
  readonly restarts?: number;
  readonly condition?: string;
}

/** A Pod of that Job. Its name is its uid. */
export function podWith(name: string, facts: PodFacts = {}): Pod {
  const { phase = "Running", index, failures, isTracked = true, isTerminating = false } = facts;
  const annotations = {
    ...(index === undefined ? {} : { [COMPLETION_INDEX]: String(index) }),
    ...(failures === undefined ? {} : { [INDEX_FAILURES]: String(failures) }),
  };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace: "default",
      uid: name,
      annotations,
      ...(isTracked ? { finalizers: [TRACKING_FINALIZER] } : {}),
      ...(isTerminating ? { deletionTimestamp: formatTime(0) } : {}),
    },
    status: { phase, ...containerOf(facts), conditions: conditionsOf(facts) },
  };
}

function containerOf({ finishedMs, exitCode, restarts }: PodFacts): PodStatus {
  if (finishedMs === undefined && exitCode === undefined && restarts === undefined) return {};
  const terminated = { exitCode: exitCode ?? 1, ...(finishedMs === undefined ? {} : { finishedAt: formatTime(finishedMs) }) };
  const state = finishedMs === undefined && exitCode === undefined ? {} : { terminated };
  return { containerStatuses: [{ name: "main", image: "", imageID: "", ready: false, restartCount: restarts ?? 0, state }] };
}

function conditionsOf({ isReady = false, condition }: PodFacts): NonNullable<PodStatus["conditions"]> {
  return [...(isReady ? ["Ready"] : []), ...(condition === undefined ? [] : [condition])].map((type) => ({ type, status: "True" }));
}

/** Status of a Pod whose container ended with this code now. */
export function endedStatus(exitCode: number, nowMs: number): PodStatus {
  const terminated = { exitCode, finishedAt: formatTime(nowMs) };
  return {
    phase: exitCode === 0 ? "Succeeded" : "Failed",
    containerStatuses: [{ name: "main", image: "", imageID: "", ready: false, restartCount: 0, state: { terminated } }],
  };
}

export function endPod(cluster: Given, name: string, exitCode: number): Promise<Pod> {
  return setStatus(cluster, name, endedStatus(exitCode, cluster.clock.now()));
}

export async function jobStatus(cluster: Given): Promise<JobStatus> {
  return (await cluster.client.get(jobs, WORK)).status ?? {};
}

/** Types of the conditions that are true, in order. */
export function trueConditions({ conditions = [] }: JobStatus): readonly string[] {
  return conditions.filter(({ status }) => status === "True").map(({ type, reason }) => `${type}: ${reason}`);
}

/** Ends every Pod at once, with the exit code that `codeOf` returns. Undefined: the Pod runs forever. */
export function simulatedKubelet(codeOf: (pod: Pod) => number | undefined): Controller {
  return defineController({
    name: "simulated-kubelet",
    account: "simulated-kubelet",
    rules: [{ apiGroups: [""], resources: ["pods/status"], verbs: ["update"] }],
    watches: [watch(pods, itself)],
    async reconcile(key, { read, write, clock }) {
      const pod = read.get(pods, key);
      const code = pod === undefined || pod.status?.phase !== "Pending" ? undefined : codeOf(pod);
      if (pod !== undefined && code !== undefined) await write.updateStatus(pods, { ...pod, status: endedStatus(code, clock.now()) });
      return onChange;
    },
  });
}
