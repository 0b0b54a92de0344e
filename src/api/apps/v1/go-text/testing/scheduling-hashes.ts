/** Pod templates with all families of fields of a Pod besides containers and volumes, with the hashes that upstream's ComputeHash (Kubernetes 1.36) returned for them. */
import { SELECTOR, withSpec, type HashedTemplate } from "./hashed-template.ts";

const NODE_TERM = { matchExpressions: [{ key: "cpu", operator: "Gt", values: ["3"] }], matchFields: [] } as const;
const POD_TERM = { labelSelector: SELECTOR, namespaces: ["n"], topologyKey: "zone", namespaceSelector: {}, matchLabelKeys: ["k"] };

export const SCHEDULING_HASHES: readonly HashedTemplate[] = [
  {
    has: "node affinity",
    hash: "579cc698c8",
    template: withSpec({
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [NODE_TERM] },
          preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 7, preference: NODE_TERM }],
        },
      },
    }),
  },
  {
    has: "Pod affinity",
    hash: "76474cc7c7",
    template: withSpec({
      affinity: {
        podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [POD_TERM] },
        podAntiAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 100, podAffinityTerm: { topologyKey: "host", mismatchLabelKeys: ["m"] } },
          ],
        },
      },
    }),
  },
  {
    has: "tolerations",
    hash: "59958dcd69",
    template: withSpec({
      tolerations: [
        { operator: "Exists" },
        { key: "a", operator: "Equal", value: "b", effect: "NoExecute", tolerationSeconds: 0 },
        { key: "c", operator: "Exists", effect: "NoSchedule", tolerationSeconds: -1 },
      ],
    }),
  },
  {
    has: "topology spread constraints",
    hash: "869d75d768",
    template: withSpec({
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule", labelSelector: SELECTOR, minDomains: 2 },
        { maxSkew: 2, topologyKey: "host", whenUnsatisfiable: "ScheduleAnyway", nodeAffinityPolicy: "Honor", nodeTaintsPolicy: "Ignore" },
      ],
    }),
  },
  {
    has: "the choice of a node",
    hash: "54ffbdd46f",
    template: withSpec({
      nodeSelector: { b: "2", a: "1" },
      nodeName: "n1",
      schedulerName: "mine",
      schedulingGates: [{ name: "example.com/g" }],
    }),
  },
  { has: "a priority", hash: "54c5c9c594", template: withSpec({ priorityClassName: "high", priority: -5, preemptionPolicy: "Never" }) },
  {
    has: "a service account",
    hash: "64f57d9575",
    template: withSpec({
      serviceAccountName: "s",
      serviceAccount: "s",
      automountServiceAccountToken: false,
      imagePullSecrets: [{ name: "a" }, { name: "b" }],
      enableServiceLinks: true,
    }),
  },
  {
    has: "names and DNS",
    hash: "cf4665b44",
    template: withSpec({
      hostname: "h",
      subdomain: "s",
      setHostnameAsFQDN: true,
      hostnameOverride: "o",
      hostAliases: [{ ip: "192.0.2.1", hostnames: ["a", "b"] }],
      dnsPolicy: "None",
      dnsConfig: { nameservers: ["192.0.2.2"], searches: ["x.example"], options: [{ name: "ndots", value: "2" }, { name: "edns0" }] },
    }),
  },
  {
    has: "namespaces of the host",
    hash: "96f7956bc",
    template: withSpec({
      hostNetwork: true,
      hostPID: true,
      hostIPC: true,
      hostUsers: false,
      shareProcessNamespace: true,
      os: { name: "linux" },
    }),
  },
  {
    has: "deadlines and readiness gates",
    hash: "5866fdd867",
    template: withSpec({
      activeDeadlineSeconds: 2147483648,
      terminationGracePeriodSeconds: 0,
      readinessGates: [{ conditionType: "example.com/r" }],
    }),
  },
  {
    has: "resource claims",
    hash: "f454b68cb",
    template: withSpec({
      resourceClaims: [
        { name: "a", resourceClaimName: "c" },
        { name: "b", resourceClaimTemplateName: "t" },
      ],
      schedulingGroup: { podGroupName: "g" },
    }),
  },
];
