/** The menu: views, then kinds by topic. Kinds that are in no topic, custom ones included, follow by group. Pure. */
import { kindId, type Kind } from "../../data/kinds.ts";

export interface MenuSection {
  readonly title: string;
  readonly kinds: readonly Kind[];
}

const TOPICS: readonly { readonly title: string; readonly ids: readonly string[] }[] = [
  {
    title: "Workloads",
    ids: ["pods", "deployments.apps", "statefulsets.apps", "daemonsets.apps", "jobs.batch", "cronjobs.batch", "replicasets.apps"],
  },
  {
    title: "Network",
    ids: ["services", "ingresses.networking.k8s.io", "networkpolicies.networking.k8s.io", "endpointslices.discovery.k8s.io"],
  },
  { title: "Configuration", ids: ["configmaps", "secrets", "horizontalpodautoscalers.autoscaling", "resourcequotas"] },
  { title: "Storage", ids: ["persistentvolumeclaims", "persistentvolumes", "storageclasses.storage.k8s.io"] },
  { title: "Cluster", ids: ["nodes", "namespaces", "events", "customresourcedefinitions.apiextensions.k8s.io"] },
  {
    title: "Access",
    ids: [
      "serviceaccounts",
      "roles.rbac.authorization.k8s.io",
      "rolebindings.rbac.authorization.k8s.io",
      "clusterroles.rbac.authorization.k8s.io",
      "clusterrolebindings.rbac.authorization.k8s.io",
    ],
  },
];

export function menuSections(kinds: readonly Kind[]): readonly MenuSection[] {
  const listable = kinds.filter(({ verbs }) => verbs.includes("list"));
  const byId = new Map(listable.map((kind) => [kindId(kind), kind]));
  const topics = TOPICS.map(({ title, ids }) => ({ title, kinds: ids.flatMap((id) => byId.get(id) ?? []) }));
  const placed = new Set(TOPICS.flatMap(({ ids }) => ids));
  // The same objects as the Events of the core group.
  placed.add("events.events.k8s.io");
  const others = listable.filter((kind) => !placed.has(kindId(kind)));
  const isCustom = ({ group }: Kind) => group.includes(".") && !group.endsWith(".k8s.io");
  return [
    ...topics,
    { title: "Custom resources", kinds: others.filter(isCustom) },
    { title: "More", kinds: others.filter((kind) => !isCustom(kind)) },
  ].filter((section) => section.kinds.length > 0);
}
