/** NetworkPolicies that allow some Pods to send, and not to query DNS: names resolve, only not for these Pods. */
import { labelSelectorFromObject } from "../../../api/machinery/selectors/label-selector.ts";
import type { ClusterView, Seen, Subject } from "../cluster-view.ts";
import { found, patch, subjectOf, type Explanation } from "../explainer.ts";
import { labelsOf } from "../pod-template.ts";

const POLICIES = "networkpolicies.networking.k8s.io";
const DNS_PORT = 53;
const PODS_SHOWN_MAX = 3;

/** In the namespace of the question. Whether a rule for other namespaces or addresses includes the DNS server is not examined: it may. */
export function blockedQueries(subject: Subject, view: ClusterView): Explanation | undefined {
  const policies = view.list(POLICIES, subject.namespace).filter(isolatesSending);
  const pods = policies.length === 0 ? [] : view.list("pods", subject.namespace);
  const blocked = pods.flatMap((pod) => {
    const own = policies.filter(({ spec }) => labelSelectorFromObject(spec.podSelector).matches(labelsOf(pod.metadata.labels)));
    return own.length > 0 && !own.some(mayQuery) ? [{ pod, policy: own[0] }] : [];
  });
  const [first] = blocked;
  if (first === undefined) return undefined;
  const { policy } = first;
  const names = blocked.slice(0, PODS_SHOWN_MAX).map(({ pod }) => pod.metadata.name);
  const more = blocked.length > PODS_SHOWN_MAX ? ` and ${blocked.length - PODS_SHOWN_MAX} more` : "";
  const cause = {
    text: `NetworkPolicy ${subject.namespace}/${policy.metadata.name} selects them for egress, and no rule allows port ${DNS_PORT}`,
    root: "NetworkPolicy",
  };
  const ports = ["UDP", "TCP"].map((protocol) => ({ protocol, port: DNS_PORT }));
  const egress = [...(policy.spec.egress ?? []), { ports }];
  return found({ text: `${subject.name} does not resolve for ${names.join(", ")}${more}`, because: [cause] }, [
    { text: "Allow DNS queries to anywhere", changes: [patch(subjectOf(POLICIES, policy), { spec: { egress } })] },
  ]);
}

function isolatesSending({ spec }: Seen): boolean {
  return (spec.policyTypes as readonly string[] | undefined)?.includes("Egress") ?? spec.egress !== undefined;
}

function mayQuery({ spec }: Seen): boolean {
  return (spec.egress ?? []).some(({ to, ports }: Seen) => isElsewhere(to) && (ports === undefined || ports.some(isForQueries)));
}

/** The DNS server is in no namespace of users. */
function isElsewhere(to: readonly Seen[] | undefined): boolean {
  return (
    to === undefined ||
    to.length === 0 ||
    to.some(({ namespaceSelector, ipBlock }) => namespaceSelector !== undefined || ipBlock !== undefined)
  );
}

function isForQueries({ port, endPort, protocol = "TCP" }: Seen): boolean {
  if (protocol !== "UDP") return false;
  return port === undefined || port === DNS_PORT || (typeof endPort === "number" && port <= DNS_PORT && DNS_PORT <= endPort);
}
