/** A Node that is not Ready or cordoned. */
import { BUDGETS, blockedEvictions } from "./disruption-budget.ts";
import { conditionOf, defineExplainer, found, nameOf, patch } from "./explainer.ts";

/** Pods that keep a drain from its end. */
const BLOCKED_SHOWN_MAX = 5;

export const node = defineExplainer({
  resources: ["nodes"],
  explain(object, subject, { view }) {
    const ready = conditionOf(object, "Ready");
    if (ready?.status !== "True") {
      const text = `${nameOf(subject)} is not Ready since ${ready?.lastTransitionTime ?? "its creation"}`;
      const lease = view.get({ resource: "leases.coordination.k8s.io", namespace: "kube-node-lease", name: subject.name });
      const renewed = lease?.spec?.renewTime;
      if (ready === undefined || ready.status === "Unknown") {
        const heartbeat = renewed === undefined ? "it has no heartbeat" : `its last heartbeat was at ${renewed}`;
        const below = {
          text: "whether the machine is off, the kubelet has stopped or the network is interrupted cannot be seen from here",
          isUnknown: true,
        } as const;
        return found({
          text,
          because: [{ text: `its kubelet does not report any more: ${heartbeat}`, root: "KubeletSilent", because: [below] }],
        });
      }
      return found({ text, because: [{ text: `its kubelet reports: ${ready.reason}: ${ready.message}`, root: String(ready.reason) }] });
    }
    const pressure = ["DiskPressure", "MemoryPressure", "PIDPressure"].find((type) => conditionOf(object, type)?.status === "True");
    if (pressure !== undefined)
      return found({
        text: `${nameOf(subject)} accepts no new Pods`,
        because: [{ text: `${pressure}: ${conditionOf(object, pressure).message}`, root: pressure }],
      });
    if (object.spec?.unschedulable !== true) return undefined;
    const blocked = (view.isReadable(BUDGETS) && view.isReadable("pods") ? blockedEvictions(subject.name, view) : []).slice(
      0,
      BLOCKED_SHOWN_MAX,
    );
    const because = blocked.map(({ pod, budget }) => ({
      text: `a drain waits for pod ${pod.metadata.namespace}/${pod.metadata.name}: ${nameOf(budget)} allows no eviction now`,
    }));
    const cause = { text: "it is cordoned (spec.unschedulable)", root: "NodeCordoned", because };
    return found({ text: `${nameOf(subject)} accepts no new Pods`, because: [cause] }, [
      { text: "Uncordon it", changes: [patch(subject, { spec: { unschedulable: null } })] },
    ]);
  },
});
