/** Why a rule of upstream is shown by no test. An explanation that no rule needs any more fails the run, so that none goes stale. */
export interface Explanation {
  /** Of one kind, or of all if there is none. */
  readonly kind?: string;
  /** Of the rule as rules.ts describes it. */
  readonly rule: string | RegExp;
  readonly why: string;
}

export const explanations: readonly Explanation[] = [
  {
    rule: /^InternalError /,
    why: "Upstream says so where its own code is wrong, or where a type of Go has a value that JSON cannot give it.",
  },
  {
    rule: /error generating diff/,
    why: "Upstream says so if it cannot print an object that it has just decoded.",
  },
  {
    rule: /: must be an integer or percentage \(e\.g '5%%'\)/,
    why: "A value that is neither a number nor a text is refused when it is decoded.",
  },
  {
    rule: /^FieldValueRequired resourceVersion \(/,
    why: "A write that does not name a resourceVersion is given that of the object before it is checked.",
  },
  {
    rule: /hostProcess containers are disallowed by cluster policy/,
    why: "Only if upstream's server is started without --allow-privileged. Ours allows privileged containers, as clusters do.",
  },
  {
    kind: "CustomResourceDefinition",
    rule: /x-kubernetes-validations|: failed rule|rule compile|evaluating rule|call cost|cost budget|rule cost|operator, function or macro/,
    why: "About expressions: CEL comes with the issue on extensions.",
  },
  {
    rule: /^FieldValue(Invalid|Required|Forbidden) \S*([eE]xpression): (…|too complex)/,
    why: "What is wrong in an expression is known when it is compiled: CEL comes with the issue on extensions.",
  },
  {
    kind: "CustomResourceDefinition",
    rule: /mutually exclusive|may not all be set to identical values| spec\.(version|validation): /,
    why: "About fields of upstream's internal type, which no version that is served can set.",
  },
  {
    kind: "RuntimeClass",
    rule: / overhead\.(requests|claims)/,
    why: "Upstream checks the overhead as if it were the limits of a container, which then has no requests and no claims.",
  },
  {
    kind: "Lease",
    rule: / (spec\.preferredHolder|strategy\.strategy): /,
    why: "The feature CoordinatedLeaderElection is off by default, and the fields are dropped.",
  },
  {
    rule: / (\S* \|\| )?(clusterTrustBundle\.|sources\.clusterTrustBundle)/,
    why: "The feature ClusterTrustBundleProjection is off by default, and the field is dropped.",
  },
  {
    rule: / (podCertificate\.|sources\.podCertificate)/,
    why: "The feature PodCertificateRequest is off by default, and the field is dropped.",
  },
  {
    rule: / lifecycle\.stopSignal: /,
    why: "The feature ContainerStopSignals is off by default, and the field is dropped.",
  },
  {
    rule: / schedulingGroup\.podGroupName: /,
    why: "The feature GenericWorkload is off by default, and the field is dropped.",
  },
  {
    rule: /(nodeAllocatableResource(ClaimStatuses|Mappings)|node allocatable resource claims cannot)/,
    why: "The feature DRANodeAllocatableResources is off by default, and the fields are dropped.",
  },
];
