/** An object of any kind that is being deleted and still exists: finalizers, a grace period, a node that does not answer, remaining contents. */
import type { Seen, Subject } from "./cluster-view.ts";
import {
  conditionOf,
  defineExplainer,
  found,
  nameOf,
  patch,
  subjectOf,
  type Change,
  type ExplainContext,
  type Explanation,
  type Remedy,
} from "./explainer.ts";

/** Finalizers that a controller of the cluster removes by itself when its condition is met: removing them by hand loses data. */
const MANAGED: Readonly<Record<string, string>> = {
  foregroundDeletion: "its dependents are deleted first",
  orphan: "its dependents are released first",
  "customresourcecleanup.apiextensions.k8s.io": "its custom objects are deleted first",
  "kubernetes.io/pvc-protection": "a Pod uses the claim",
  "kubernetes.io/pv-protection": "a claim is bound to the volume",
  "batch.kubernetes.io/job-tracking": "the Job controller has not counted the Pod yet",
};

export const terminating = defineExplainer({
  resources: ["*"],
  explain(object, subject, context) {
    const { deletionTimestamp, finalizers = [] } = object.metadata ?? {};
    if (deletionTimestamp === undefined) return undefined;
    const text = `${nameOf(subject)} is being deleted since ${deletionTimestamp}`;
    if (subject.resource === "namespaces") return namespaceProblem(text, object, subject, context);
    if (finalizers.length > 0) return finalizerProblem(text, object, subject, context);
    if (subject.resource === "pods") return podProblem(text, object, subject, context);
    return found({ text, because: [{ text: "it has no finalizers; the server removes it", isUnknown: true }] });
  },
});

function finalizerProblem(text: string, object: Seen, subject: Subject, context: ExplainContext): Explanation {
  const { view } = context;
  const finalizers: readonly string[] = object.metadata.finalizers;
  const own = unmanaged(finalizers);
  const blocked = own.length === 0 ? blockedBy(object, finalizers, context) : [];
  if (blocked.length > 0) {
    const because = finalizers.map((name, index) => ({
      text: `finalizer ${name}: ${MANAGED[name]}`,
      ...(index === 0 ? { because: blocked.slice(0, SHOWN_MAX).map(({ finding }) => finding) } : {}),
    }));
    // All at once: as long as one of them is there, the object stays.
    const changes = blocked.flatMap(({ remedies }) => remedies[0]?.changes ?? []);
    const areAll = blocked.every(({ remedies }) => remedies.length > 0);
    const remedy = { text: `Remove what keeps them; what their controllers would have cleaned up stays`, changes, goal: subject };
    return found({ text, because }, areAll ? [remedy] : []);
  }
  if (own.length === 0) {
    const because = finalizers.map((name) => ({
      text: `finalizer ${name}: ${MANAGED[name]}${usersOf(name, subject, view)}`,
      root: "ManagedFinalizer",
    }));
    return found({ text, because });
  }
  const cause = {
    text: `finalizer ${own.join(", ")}: its controller has not removed it; whether one runs is not known`,
    root: "Finalizer",
  };
  const remedy: Remedy = {
    text: `Remove the finalizer of ${nameOf(subject)}; what its controller would have cleaned up stays`,
    changes: [withoutUnmanaged(subject, finalizers)],
  };
  return found({ text, because: [cause] }, [remedy]);
}

/** Objects that remain although they are being deleted: one is enough to keep their owner or definition. */
const SHOWN_MAX = 3;

/** What the object waits for: dependents with an owner reference that blocks, or the custom objects of a definition. */
function blockedBy(object: Seen, finalizers: readonly string[], { view, explain }: ExplainContext): readonly Explanation[] {
  const { uid } = object.metadata;
  const waits = (resource: string, each: Seen): boolean =>
    (finalizers.includes("foregroundDeletion") &&
      (each.metadata.ownerReferences ?? []).some((owner: Seen) => owner.uid === uid && owner.blockOwnerDeletion === true)) ||
    (finalizers.includes("customresourcecleanup.apiextensions.k8s.io") && resource === object.metadata.name);
  return [...view.objects].flatMap(([resource, objects]) =>
    objects.filter((each) => waits(resource, each)).flatMap((each) => explain(subjectOf(resource, each)) ?? []),
  );
}

function unmanaged(finalizers: readonly string[]): readonly string[] {
  return finalizers.filter((name) => MANAGED[name] === undefined);
}

/** Removes all but those that a controller of the cluster removes by itself. */
function withoutUnmanaged(subject: Subject, finalizers: readonly string[]): Change {
  const kept = finalizers.filter((name) => MANAGED[name] !== undefined);
  return patch(subject, { metadata: { finalizers: kept.length === 0 ? null : kept } });
}

function usersOf(finalizer: string, { namespace, name }: Subject, view: ExplainContext["view"]): string {
  if (finalizer !== "kubernetes.io/pvc-protection") return "";
  const users = view
    .list("pods", namespace)
    .filter(({ spec }) => (spec.volumes ?? []).some(({ persistentVolumeClaim }: Seen) => persistentVolumeClaim?.claimName === name));
  return users.length === 0 ? "" : ` (${users.map(({ metadata }) => metadata.name).join(", ")})`;
}

function podProblem(text: string, pod: Seen, subject: Subject, { view }: ExplainContext): Explanation {
  const nodeName: string = pod.spec.nodeName ?? "";
  const node = view.get({ resource: "nodes", namespace: "", name: nodeName });
  const isLost = nodeName !== "" && (node === undefined || conditionOf(node, "Ready")?.status !== "True");
  if (isLost) {
    const state = node === undefined ? "does not exist any more" : "is not Ready";
    const cause = { text: `its node ${nodeName} ${state}: no kubelet confirms that its containers have stopped`, root: "NodeLost" };
    const remedy: Remedy = {
      text: "Delete it by force; make sure that the node is off, or its containers may still run",
      changes: [{ type: "delete", target: subject, force: true }],
    };
    return found({ text, because: [cause] }, [remedy]);
  }
  const seconds = pod.metadata.deletionGracePeriodSeconds ?? 0;
  const remaining = Math.ceil((Date.parse(pod.metadata.deletionTimestamp) - view.nowMs) / 1_000);
  const wait = remaining > 0 ? `${remaining} s are left` : "it is over, and the kubelet kills its containers";
  const hooks = pod.spec.containers.filter(({ lifecycle }: Seen) => lifecycle?.preStop !== undefined).map(({ name }: Seen) => name);
  const hook = hooks.length === 0 ? "" : `; the preStop hook of ${hooks.join(", ")} counts`;
  return found({
    text,
    because: [{ text: `its containers have a grace period of ${seconds} s to stop${hook}: ${wait}`, root: "GracePeriod" }],
  });
}

/** Objects with finalizers keep a namespace; so does an aggregated API that does not answer. */
function namespaceProblem(text: string, namespace: Seen, subject: Subject, { view }: ExplainContext): Explanation {
  const { name } = namespace.metadata;
  const held = [...view.objects].flatMap(([resource, objects]) =>
    objects
      .filter(({ metadata }) => metadata.namespace === name && unmanaged(metadata.finalizers ?? []).length > 0)
      .map(({ metadata }) => ({
        subject: { resource, namespace: name as string, name: metadata.name },
        finalizers: metadata.finalizers ?? [],
      })),
  );
  const discovery = conditionOf(namespace, "NamespaceDeletionDiscoveryFailure");
  if (discovery?.status === "True")
    return found(
      { text, because: [{ text: `its contents cannot be listed: ${discovery.message}`, root: "APIServiceUnavailable" }] },
      brokenApis(view),
    );
  if (held.length > 0) {
    const because = held.map(({ subject: each, finalizers }) => ({
      text: `${nameOf(each)} remains: finalizer ${unmanaged(finalizers).join(", ")}`,
      root: "Finalizer",
    }));
    const changes = held.map(({ subject: each, finalizers }) => withoutUnmanaged(each, finalizers));
    return found({ text, because }, [
      { text: "Remove the finalizers; what their controllers would have cleaned up stays", changes, goal: subject },
    ]);
  }
  const content = conditionOf(namespace, "NamespaceContentRemaining");
  const own: readonly string[] = namespace.spec?.finalizers ?? [];
  if (content?.status === "True") return found({ text, because: [{ text: content.message, root: "ContentRemaining" }] });
  return found({ text, because: [{ text: `spec.finalizers: ${own.join(", ") || "none"}`, root: "NamespaceFinalizer" }] });
}

function brokenApis(view: ExplainContext["view"]): readonly Remedy[] {
  const broken = view.list("apiservices.apiregistration.k8s.io").filter((api) => conditionOf(api, "Available")?.status === "False");
  return broken.map(({ metadata }) => {
    const target = { resource: "apiservices.apiregistration.k8s.io", namespace: "", name: metadata.name as string };
    return { text: `Delete the APIService ${metadata.name}, whose server does not answer`, changes: [{ type: "delete", target }] as const };
  });
}
