/** A Pod on a node whose containers do not run or are not ready: image pulls, missing configuration, crashes, probes, readiness gates. */
import type { ClusterView, Seen, Subject } from "./cluster-view.ts";
import { conditionOf, defineExplainer, found, nameOf, type Explanation, type Finding, type Remedy, type Manifest } from "./explainer.ts";
import { podSource } from "./pod-template.ts";
import { rollBack } from "./roll-back.ts";

const PULL_REASONS = [
  "ImagePullBackOff",
  "ErrImagePull",
  "InvalidImageName",
  "ErrImageNeverPull",
  "ImageInspectError",
  "RegistryUnavailable",
];

export const podContainers = defineExplainer({
  resources: ["pods"],
  explain(pod, subject, { view }) {
    if (pod.metadata.deletionTimestamp || !pod.spec.nodeName) return undefined;
    if (pod.status?.phase === "Failed") return failedPod(pod, subject);
    if (pod.status?.phase === "Succeeded" || conditionOf(pod, "Ready")?.status === "True") return undefined;
    const statuses: readonly Seen[] = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
    for (const status of statuses) {
      const explained = containerProblem(status, pod, subject, view);
      if (explained !== undefined) return explained;
    }
    return notReady(pod, subject, view, statuses);
  },
});

function failedPod(pod: Seen, subject: Subject): Explanation {
  const { reason, message } = pod.status;
  if (reason !== undefined) {
    const finding = {
      text: `${nameOf(subject)} failed: ${reason}`,
      because: [{ text: message ?? "no message was reported", root: String(reason) }],
    };
    return found(finding);
  }
  const ended = (pod.status.containerStatuses ?? []).find(({ state }: Seen) => state?.terminated && state.terminated.exitCode !== 0);
  return found({ text: `${nameOf(subject)} failed`, because: ended === undefined ? [UNKNOWN_EXIT] : [exitOf(ended, subject)] });
}

const UNKNOWN_EXIT: Finding = { text: "no container reports an exit code", isUnknown: true };

function containerProblem(status: Seen, pod: Seen, subject: Subject, view: ClusterView): Explanation | undefined {
  const { name } = status;
  const waiting = status.state?.waiting;
  const text = `container ${name} of ${nameOf(subject)} does not run: ${waiting?.reason ?? "it exited"}`;
  if (waiting !== undefined && PULL_REASONS.includes(waiting.reason)) return imageProblem(text, status, pod, view);
  if (waiting?.reason === "CreateContainerConfigError") return configProblem(text, waiting.message ?? "", pod, view);
  const last = status.lastState?.terminated ?? status.state?.terminated;
  if (waiting?.reason === "CrashLoopBackOff" || (last !== undefined && last.exitCode !== 0 && !status.ready)) {
    const restarts = `it has been restarted ${status.restartCount} times`;
    return found({ text: `${text} (${restarts})`, because: [exitOf(status, subject)] }, rollBack(view, podSource(view, pod)));
  }
  if (waiting !== undefined && waiting.reason !== "ContainerCreating" && waiting.reason !== "PodInitializing")
    return found({ text, because: [{ text: waiting.message ?? "no message was reported", root: String(waiting.reason) }] });
  return undefined;
}

function exitOf(status: Seen, { namespace, name }: Subject): Finding {
  const ended = status.state?.terminated ?? status.lastState?.terminated;
  const when = ended?.finishedAt ? ` at ${ended.finishedAt}` : "";
  if (ended === undefined) return UNKNOWN_EXIT;
  if (ended.reason === "OOMKilled")
    return {
      text: `the kernel killed it${when}: it used more memory than its limit (OOMKilled, exit code ${ended.exitCode})`,
      root: "OOMKilled",
    };
  const message = ended.message ? `: ${String(ended.message).trim()}` : "";
  const logs: Finding = {
    text: `why the program exits is in its own output, which is not known here: kubectl -n ${namespace} logs ${name} -c ${status.name} --previous`,
    isUnknown: true,
  };
  const isExplained = message !== "";
  return {
    text: `its program exited with code ${ended.exitCode}${when}${message}`,
    root: "ProgramExit",
    ...(isExplained ? {} : { because: [logs] }),
  };
}

function imageProblem(text: string, status: Seen, pod: Seen, view: ClusterView): Explanation {
  const message: string = status.state.waiting.message ?? view.event(pod, ["Failed"])?.message ?? "no message was reported";
  const cause = { text: `image "${status.image}" cannot be pulled: ${message}`, root: "ImagePull" };
  return found({ text, because: [cause] }, rollBack(view, podSource(view, pod)));
}

/** `configmap "x" not found`, `secret "x" not found`, `couldn't find key k in ConfigMap ns/x`. */
function configProblem(text: string, message: string, pod: Seen, view: ClusterView): Explanation {
  const [, what, name] = /^(configmap|secret) "([^"]+)" not found/i.exec(message) ?? [];
  const [, key, kindOfKey, place] = /couldn't find key (\S+) in (ConfigMap|Secret) (\S+)/.exec(message) ?? [];
  const { namespace } = pod.metadata;
  if (what !== undefined && name !== undefined) {
    const kind = what.toLowerCase() === "secret" ? "Secret" : "ConfigMap";
    const keys = referencedKeys(pod, kind, name);
    const remedy: Remedy = {
      text: `Create ${kind} ${name}${keys.length === 0 ? "" : ` with ${keys.join(", ")}`}; the values are placeholders, since the intended content is not known`,
      changes: [{ type: "create", object: holder(kind, namespace, name, keys) }],
      goal: podSource(view, pod).subject,
    };
    return found(
      { text, because: [{ text: `${kind} ${namespace}/${name}, which the Pod refers to, does not exist`, root: `Missing${kind}` }] },
      [remedy],
    );
  }
  if (key !== undefined && kindOfKey !== undefined && place !== undefined) {
    const target = { resource: `${kindOfKey.toLowerCase()}s`, namespace, name: place.split("/")[1] ?? "" };
    const member = kindOfKey === "Secret" ? "stringData" : "data";
    const remedy: Remedy = {
      text: `Add the key ${key} to ${kindOfKey} ${target.name}; the value is a placeholder, since the intended one is not known`,
      changes: [{ type: "patch", target, patch: { [member]: { [key]: PLACEHOLDER } } }],
      goal: podSource(view, pod).subject,
    };
    return found({ text, because: [{ text: `${kindOfKey} ${place} has no key "${key}"`, root: `Missing${kindOfKey}Key` }] }, [remedy]);
  }
  return found({ text, because: [{ text: message, root: "ContainerConfig" }] });
}

const PLACEHOLDER = "changeme";

function referencedKeys(pod: Seen, kind: string, name: string): readonly string[] {
  const member = kind === "Secret" ? "secretKeyRef" : "configMapKeyRef";
  const containers: readonly Seen[] = [...(pod.spec.initContainers ?? []), ...pod.spec.containers];
  return containers.flatMap(({ env = [] }) =>
    env.flatMap(({ valueFrom }: Seen) => (valueFrom?.[member]?.name === name ? [valueFrom[member].key as string] : [])),
  );
}

function holder(kind: string, namespace: string, name: string, keys: readonly string[]): Manifest {
  const content = Object.fromEntries(keys.map((key) => [key, PLACEHOLDER]));
  return { apiVersion: "v1", kind, metadata: { namespace, name }, [kind === "Secret" ? "stringData" : "data"]: content };
}

function notReady(pod: Seen, subject: Subject, view: ClusterView, statuses: readonly Seen[]): Explanation | undefined {
  const unmet = (pod.spec.readinessGates ?? []).filter(({ conditionType }: Seen) => conditionOf(pod, conditionType)?.status !== "True");
  const waiting = statuses.filter(({ ready, state }) => !ready && state?.running !== undefined);
  const text = `${nameOf(subject)} is not Ready`;
  if (waiting.length > 0) {
    const [status] = waiting;
    const spec = pod.spec.containers.find(({ name }: Seen) => name === status.name);
    const probe = view.event(pod, ["Unhealthy"])?.message;
    const cause: Finding =
      spec?.readinessProbe === undefined && probe === undefined
        ? { text: `container ${status.name} runs since ${status.state.running.startedAt} and does not report ready`, root: "NotReady" }
        : { text: `the readiness probe of container ${status.name} fails: ${probe ?? "no message was reported"}`, root: "ReadinessProbe" };
    return found({ text, because: [cause] }, rollBack(view, podSource(view, pod)));
  }
  if (unmet.length > 0) {
    const names = unmet.map(({ conditionType }: Seen) => conditionType).join(", ");
    return found({
      text,
      because: [{ text: `no controller has set the condition of its readiness gates: ${names}`, root: "ReadinessGate" }],
    });
  }
  return volumeProblem(pod, text, view);
}

/** Containers that are being created: a volume that cannot be mounted, or nothing but time. */
function volumeProblem(pod: Seen, text: string, view: ClusterView): Explanation | undefined {
  const mount = view.event(pod, ["FailedMount", "FailedAttachVolume", "FailedCreatePodSandBox"]);
  if (mount !== undefined) {
    const [, what, name] = /(configmap|secret) "([^"]+)" not found/.exec(mount.message) ?? [];
    if (what !== undefined && name !== undefined)
      return configProblem(`${text}: its volumes cannot be mounted`, `${what} "${name}" not found`, pod, view);
    return found({ text, because: [{ text: mount.message, root: String(mount.reason) }] });
  }
  const node = view.get({ resource: "nodes", namespace: "", name: pod.spec.nodeName });
  if (node !== undefined && conditionOf(node, "Ready")?.status !== "True")
    return found({ text, because: [{ text: `its node ${pod.spec.nodeName} is not Ready`, root: "NodeNotReady" }] });
  return found({ text, because: [{ text: "its containers are being created; no problem is reported", isUnknown: true }] });
}
