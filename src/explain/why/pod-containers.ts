/** A Pod on a node whose containers do not run or are not ready: image pulls, missing configuration, crashes, probes, readiness gates. */
import type { ClusterView, Seen, Subject } from "./cluster-view.ts";
import {
  conditionOf,
  defineExplainer,
  found,
  nameOf,
  type ExplainContext,
  type Explanation,
  type Finding,
  type Manifest,
  type Remedy,
} from "./explainer.ts";
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
  explain(pod, subject, context) {
    const { view } = context;
    if (pod.metadata.deletionTimestamp || !pod.spec.nodeName) return undefined;
    if (pod.status?.phase === "Failed") return failedPod(pod, subject);
    if (pod.status?.phase === "Succeeded" || conditionOf(pod, "Ready")?.status === "True") return undefined;
    const lost = nodeProblem(pod, subject, context);
    if (lost !== undefined) return lost;
    const statuses: readonly Seen[] = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
    for (const status of statuses) {
      const explained = containerProblem(status, pod, subject, view);
      if (explained !== undefined) return explained;
    }
    return notReady(pod, subject, view, statuses);
  },
});

/** What containers reported before their node fell silent says nothing about now. */
function nodeProblem(pod: Seen, subject: Subject, { view, explain }: ExplainContext): Explanation | undefined {
  const target: Subject = { resource: "nodes", namespace: "", name: pod.spec.nodeName };
  if (!view.isReadable("nodes")) return undefined;
  const text = `${nameOf(subject)} is not Ready`;
  const node = view.get(target);
  if (node === undefined) return found({ text, because: [{ text: `its node ${target.name} does not exist`, root: "NodeMissing" }] });
  if (conditionOf(node, "Ready")?.status === "True") return undefined;
  const finding = explain(target)?.finding ?? { text: `its node ${target.name} is not Ready`, root: "NodeNotReady" };
  return found({ text, because: [finding] });
}

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
  const isInit = (pod.spec.initContainers ?? []).some((container: Seen) => container.name === name);
  const text = `${isInit ? "init container" : "container"} ${name} of ${nameOf(subject)} does not run: ${waiting?.reason ?? "it exited"}`;
  if (waiting !== undefined && PULL_REASONS.includes(waiting.reason)) return imageProblem(text, status, pod, view);
  if (waiting?.reason === "CreateContainerConfigError") return configProblem(text, waiting.message ?? "", pod, view);
  const last = status.lastState?.terminated ?? status.state?.terminated;
  if (waiting?.reason === "CrashLoopBackOff" || (last !== undefined && last.exitCode !== 0 && !status.ready)) {
    const restarts = `it has been restarted ${status.restartCount} times`;
    const cause = killedByProbe(status, pod, view) ?? exitOf(status, subject);
    return found({ text: `${text} (${restarts})`, because: [cause] }, rollBack(view, podSource(view, pod)));
  }
  if (waiting !== undefined && waiting.reason !== "ContainerCreating" && waiting.reason !== "PodInitializing")
    return found({ text, because: [{ text: waiting.message ?? "no message was reported", root: String(waiting.reason) }] });
  return undefined;
}

/** The kubelet stopped it, since its liveness or startup probe failed: the exit code is only that of the signal. */
function killedByProbe({ name }: Seen, pod: Seen, view: ClusterView): Finding | undefined {
  const killed = view.event(pod, ["Killing"], new RegExp(`^Container ${name} failed (liveness|startup) probe`));
  if (killed === undefined) return undefined;
  const kind = killed.message.includes("failed startup probe") ? "startup" : "liveness";
  const failure = view.event(pod, ["Unhealthy"], kind === "startup" ? /^Startup probe/ : /^Liveness probe/);
  return {
    text: `the kubelet restarts it, because its ${kind} probe fails: ${failure?.message ?? killed.message}`,
    root: kind === "startup" ? "StartupProbe" : "LivenessProbe",
  };
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
  // A container that was not started again has only one output.
  const previous = status.lastState?.terminated === undefined ? "" : " --previous";
  const logs: Finding = {
    text: `why the program exits is in its own output, which is not known here: kubectl -n ${namespace} logs ${name} -c ${status.name}${previous}`,
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
  const cause = { text: `image "${status.image}" cannot be pulled: ${message}`, root: "ImagePull", because: pullSecretProblems(pod, view) };
  return found({ text, because: [cause] }, rollBack(view, podSource(view, pod)));
}

const PULL_SECRET_TYPES = ["kubernetes.io/dockerconfigjson", "kubernetes.io/dockercfg"];

/** Credentials that the Pod names and that the kubelet cannot use: it pulls without them, and a registry may answer that the image is missing. */
function pullSecretProblems(pod: Seen, view: ClusterView): readonly Finding[] {
  const { namespace } = pod.metadata;
  if (!view.isReadable("secrets", namespace)) return [];
  return (pod.spec.imagePullSecrets ?? []).flatMap(({ name }: Seen): readonly Finding[] => {
    const secret = view.get({ resource: "secrets", namespace, name });
    const text = `Secret ${namespace}/${name}, named in imagePullSecrets,`;
    if (secret === undefined) return [{ text: `${text} does not exist: the image is pulled without it`, root: "MissingImagePullSecret" }];
    if (PULL_SECRET_TYPES.includes(secret.type)) return [];
    return [{ text: `${text} has the type ${secret.type}, which has no credentials of a registry`, root: "ImagePullSecretType" }];
  });
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
    const cause = killedByProbe(status, pod, view) ?? notReadyContainer(status, spec, pod, view);
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

function notReadyContainer(status: Seen, spec: Seen, pod: Seen, view: ClusterView): Finding {
  const { name } = status;
  const startup = status.started === false && spec?.startupProbe !== undefined;
  const probe = view.event(pod, ["Unhealthy"], startup ? /^Startup probe/ : /^Readiness probe/)?.message;
  if (startup) return { text: `the startup probe of container ${name} has not succeeded: ${probe ?? UNREPORTED}`, root: "StartupProbe" };
  if (spec?.readinessProbe === undefined && probe === undefined)
    return { text: `container ${name} runs since ${status.state.running.startedAt} and does not report ready`, root: "NotReady" };
  return { text: `the readiness probe of container ${name} fails: ${probe ?? UNREPORTED}`, root: "ReadinessProbe" };
}

const UNREPORTED = "no message was reported";

/** Containers that are being created: a volume that cannot be mounted, or nothing but time. */
function volumeProblem(pod: Seen, text: string, view: ClusterView): Explanation | undefined {
  const mount = view.event(pod, ["FailedMount", "FailedAttachVolume", "FailedCreatePodSandBox"]);
  if (mount !== undefined) {
    const [, what, name] = /(configmap|secret) "([^"]+)" not found/.exec(mount.message) ?? [];
    if (what !== undefined && name !== undefined)
      return configProblem(`${text}: its volumes cannot be mounted`, `${what} "${name}" not found`, pod, view);
    return missingVolumeKey(pod, text, mount, view) ?? found({ text, because: [{ text: mount.message, root: String(mount.reason) }] });
  }
  return found({ text, because: [{ text: "its containers are being created; no problem is reported", isUnknown: true }] });
}

/** `configmap references non-existent config key: k`, `references non-existent secret key: k`: the volume names the object. */
function missingVolumeKey(pod: Seen, text: string, { message }: Seen, view: ClusterView): Explanation | undefined {
  const [, kind = "", key] = /references non-existent (config|secret) key: (\S+)/.exec(message) ?? [];
  const [, volumeName] = /for volume "([^"]+)"/.exec(message) ?? [];
  const volume = (pod.spec.volumes ?? []).find(({ name }: Seen) => name === volumeName);
  const sources: readonly Seen[] = [volume, ...(volume?.projected?.sources ?? [])];
  const isSecret = kind === "secret";
  const source = sources.find((each) => itemsOf(each, isSecret).some((item: Seen) => item.key === key));
  const owner: string | undefined = isSecret ? (source?.secret?.secretName ?? source?.secret?.name) : source?.configMap?.name;
  if (key === undefined || owner === undefined) return undefined;
  const said = `couldn't find key ${key} in ${isSecret ? "Secret" : "ConfigMap"} ${pod.metadata.namespace}/${owner}`;
  return configProblem(`${text}: its volumes cannot be mounted`, said, pod, view);
}

function itemsOf(source: Seen, isSecret: boolean): readonly Seen[] {
  return (isSecret ? source?.secret : source?.configMap)?.items ?? [];
}
