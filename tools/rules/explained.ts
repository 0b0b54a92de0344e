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
    rule: /: (hostProcess containers are )?disallowed by cluster policy/,
    why: "Only if upstream's server is started without --allow-privileged. Ours allows privileged containers, as clusters do.",
  },
  {
    kind: "CustomResourceDefinition",
    rule: /x-kubernetes-validations|: failed rule|rule compile|evaluating rule|call cost|cost budget|rule cost|runtime cost|operator, function or macro/,
    why: "About expressions: CEL comes with the issue on extensions.",
  },
  {
    rule: /^FieldValue(Invalid|Required|Forbidden) \S*([eE]xpression): (…|too complex)/,
    why: "What is wrong in an expression is known when it is compiled: CEL comes with the issue on extensions.",
  },
  {
    kind: "CustomResourceDefinition",
    rule: /^FieldValue(Duplicate|Forbidden) (items\.default \|\| openAPIV3Schema\.default \|\| properties\.default)? ?\(validate\)$/,
    why: "A default is refused in this way only by a rule that gives it as its reason: CEL comes with the issue on extensions.",
  },
  {
    kind: "CustomResourceDefinition",
    rule: /^FieldValueInvalid \S+\.(JSONPath|\w+Path): must (not be empty|be a json path in the dot notation) /,
    why: "Upstream asks before whether the path is empty, and after splitting it whether there are no parts, of which there is always one.",
  },
  {
    kind: "CustomResourceDefinition",
    rule: /^FieldValueInvalid versions\.schema: error building validator/,
    why: "Only a reference to another schema can fail to be built, and references are refused before.",
  },
  {
    kind: "CustomResourceDefinition",
    rule: "FieldValueForbidden default: must not be set (specStandardValidatorV3.validate)",
    why: "Version v1 allows defaults; where it does not, upstream always adds the reason.",
  },
  {
    kind: "CustomResourceDefinition",
    rule: /^FieldValueRequired schema\.openAPIV3Schema \|\| validation\.openAPIV3Schema: because it is defined in/,
    why: "Said of a condition on something without a schema; the root has one, or nothing is checked.",
  },
  {
    kind: "CustomResourceDefinition",
    rule: /mutually exclusive|may not all be set to identical values| spec\.(version|validation): /,
    why: "About fields of upstream's internal type, which no version that is served can set.",
  },
  {
    kind: "RuntimeClass",
    rule: / overhead\.(requests|claims|limits: Limit must be set for non overcommitable resources)/,
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
  {
    rule: / (spec|inlineVolumeSpec)\.hostPath: may not specify more than 1 volume type/,
    why: "The path of a node is the first type that upstream looks for, so it is never one too many.",
  },
  {
    kind: "PersistentVolumeClaim",
    rule: /^FieldValueInvalid (spec\.resources|status\.allocatedResources): must be an integer /,
    why: "Upstream asks this of storage, which may be a broken number.",
  },
  {
    kind: "PersistentVolumeClaim",
    rule: /^FieldValueInvalid spec\.resources: must be greater than or equal to 0 /,
    why: "Upstream asks before whether it is greater than zero, and goes on only then.",
  },
  {
    kind: "PersistentVolumeClaim",
    rule: /^FieldValueInvalid status\.allocatedResources: must be greater than or equal to 0 /,
    why: "Upstream says so of amounts below -9.2E whose int64 has overflowed. Ours has one message for all amounts below zero.",
  },
  {
    kind: "CSIDriver",
    rule: /^FieldValueRequired spec\.(attachedRequired|podInfoOnMount|seLinuxMount|storageCapacity) /,
    why: "The defaults fill it in.",
  },
  {
    kind: "StorageClass",
    rule: /^FieldValueRequired volumeBindingMode /,
    why: "The defaults fill it in.",
  },
  {
    kind: "IngressClass",
    rule: /^FieldValueRequired parameters\.scope /,
    why: "The defaults fill it in.",
  },
  {
    rule: /^FieldValueRequired (spec\.failurePolicy|match(Constraints|Resources)\.(matchPolicy|namespaceSelector|objectSelector)) \(validate/,
    why: "The defaults of admission policies and their bindings fill it in.",
  },
  {
    rule: /^FieldValueForbidden spec\.param(Kind|Ref): cannot identify user /,
    why: "Asks an authorizer whether the user may read the parameters: authorization comes with the issue on identity.",
  },
  {
    kind: "ValidatingAdmissionPolicy",
    rule: /^FieldValueRequired validations\.message: message must be specified if expression contains line breaks/,
    why: "Upstream asks whether the message is empty only after it has found that the same message contains line breaks.",
  },
  {
    kind: "CertificateSigningRequest",
    rule: /^FieldValueForbidden status\.certificate: updates may not set certificate content/,
    why: "A write that may not set the certificate is given the one that was there before it is checked.",
  },
  {
    kind: "EndpointSlice",
    rule: /^FieldValue(Invalid|TooMany) endpoints\.deprecatedTopology: /,
    why: "Version v1 drops what is written there, and no other version is served.",
  },
  {
    kind: "EndpointSlice",
    rule: "FieldValueInvalid endpoints.addresses: must be a valid IP address (validateEndpoints)",
    why: "Upstream asks once more of addresses that it has found to be valid, in a stricter way.",
  },
  {
    kind: "PriorityLevelConfiguration",
    rule: /^FieldValueInvalid limited\.assuredConcurrencyShares: /,
    why: "The name of the field in versions v1beta1 and v1beta2, which are not served. In the others it is nominalConcurrencyShares.",
  },
  {
    rule: /^FieldValueInvalid (opaque\.parameters|devices\.data): error parsing data as JSON: /,
    why: "Only protobuf can carry what is no JSON, and ours refuses that when it is decoded.",
  },
  {
    kind: "ResourceClaim",
    rule: "FieldValueRequired devices.data (validateDeviceStatus)",
    why: "Data that is null counts as absent, as it does where upstream decodes JSON.",
  },
  {
    kind: "ResourceClaim",
    rule: /^FieldValueForbidden status\.(allocation|devices): changing status\./,
    why: "Asks an authorizer whether the user may write this part of the status: authorization comes with the issue on identity.",
  },
  {
    kind: "ResourceClaim",
    rule: /^FieldValueRequired tolerations\.operator \(validateDeviceToleration\)/,
    why: "The defaults fill it in.",
  },
  {
    rule: /^FieldValueRequired (constraints\.(distinct|match)Attribute|devices\.(attributes|capacity)) \(validateDevice/,
    why: "Said of a driver's name that is empty; a domain that is empty is refused before, in other words.",
  },
  {
    rule: /^FieldValueTooMany (status\.devices|devices\.(attributes|capacity)): has too many items /,
    why: "These have no limit of their own.",
  },
  {
    kind: "ResourceSlice",
    rule: / attributes\.(bools|ints|strings|versions): /,
    why: "The feature DRAListTypeAttributes is off by default, and the fields are dropped.",
  },
  {
    rule: /^FieldValueRequired spec\.template \(Validate(Deployment|ReplicaSet|StatefulSet)Spec\)/,
    why: "The template is part of upstream's type, so there always is one; without containers it is refused for that.",
  },
  {
    kind: "Deployment",
    rule: /^FieldValueRequired strategy\.rollingUpdate: this should be defaulted/,
    why: "Defaults give steps to every strategy that rolls.",
  },
  {
    kind: "StatefulSet",
    rule: /^FieldValueInvalid rollingUpdate\.maxUnavailable: /,
    why: "The feature MaxUnavailableStatefulSet is off by default, and the field is dropped.",
  },
  {
    kind: "DaemonSet",
    rule: /^FieldValueInvalid spec\.templateGeneration: /,
    why: "Before it is checked the number becomes at least 1 on a create; on an update it is the one before, and one more with a new template.",
  },
  {
    kind: "ControllerRevision",
    rule: /^FieldValueInvalid data: error parsing data: /,
    why: "JSON that cannot be read fails when the request is decoded; here also that within protobuf (machinery/codec/protobuf.ts).",
  },
  {
    kind: "Job",
    rule: /^FieldValueInvalid status\.conditions: cannot set SuccessCriteriaMet(=True for Job without SuccessPolicy| to NonIndexed Job) /,
    why: "The feature JobManagedBy is on by default, and with it every Job may have the condition.",
  },
  {
    kind: "Eviction",
    rule: /^FieldValueInvalid deleteOptions\.ignoreStoreReadErrorWithClusterBreakingPotential: /,
    why: "Not stored, so checked by who carries it out: apiserver/resources/pod/eviction.ts, shown by its test.",
  },
  {
    kind: "Scale",
    rule: /^FieldValueInvalid spec\.replicas: must be greater than or equal to 0 \(ValidateScale\)/,
    why: "Not stored, so checked by who carries it out: apiserver/verbs/scale.ts, shown by its test.",
  },
  {
    kind: "Service",
    rule: /^FieldValueInvalid (ports\.nodePort: provided port is already allocated|spec\.clusterIPs: failed to allocate IP …: …)/,
    why: "Known to who gives out the numbers: apiserver/resources/service/service-extension.ts, shown by its test and service-numbers.test.ts.",
  },
  {
    kind: "Service",
    rule: "FieldValueInvalid spec.clusterIPs: failed to allocate IP: … (Allocators.allocIPs)",
    why: "Upstream says so if its store fails while it looks for any free address; that there is none left is another error.",
  },
  {
    kind: "Service",
    rule: /^FieldValueInvalid spec\.clusterIPs: unknown is not configured on this cluster /,
    why: "Addresses that are none are refused right before.",
  },
  {
    kind: "Service",
    rule: "FieldValueInvalid spec.externalIPs: must be a valid IP address (validateService)",
    why: "Only of an address that was stored before it was checked: a new one has been refused in other words.",
  },
  {
    kind: "Service",
    rule: /^FieldValueRequired spec\.(type|healthCheckNodePort) \(validateService/,
    why: "The type has a default, and a port for the health check is given out before the Service is checked.",
  },
  {
    rule: /^FieldValue\w+ (: `tailLines` and specific|stream: (supported values: …|must be specified) )/,
    why: "The feature PodLogsQuerySplitStreams is off by default, and no stream may be named.",
  },
  {
    kind: "Pod",
    rule: /^FieldValueForbidden status\.nodeName: may not be changed directly /,
    why: "A write of the status keeps the spec, which is what this compares.",
  },
  {
    rule: /^FieldValueForbidden containers\.restartPolicy: may not be set for non-init containers /,
    why: "Only without the feature ContainerRestartRules, which is on by default.",
  },
  {
    rule: /^FieldValueForbidden initContainers\.restartPolicyRules: restartPolicyRules are not allowed /,
    why: "Only without the feature RestartAllContainersOnContainerExits, which is on by default.",
  },
  {
    rule: /^FieldValueForbidden livenessProbe\.exec \|\| \S.*: may not specify more than 1 handler type /,
    why: "Upstream looks at exec first, so it is never one more.",
  },
  {
    rule: /^FieldValueInvalid (downwardAPI|valueFrom)\.fieldRef: does not support subscript /,
    why: "Such a path has been refused at fieldRef.fieldPath, in other words.",
  },
  {
    rule: /^FieldValueInvalid grpc\.port: must be no more than 15 characters /,
    why: "This port is a number: a name is refused when it is decoded.",
  },
  {
    rule: /^FieldValueInvalid initContainers\.resizePolicy: must not be set for init containers /,
    why: "Only without the feature InPlacePodVerticalScaling, which is on by default.",
  },
  {
    rule: /^FieldValueInvalid io\/tolerations\.value \|\| tolerations\.value: /,
    why: "The feature TaintTolerationComparisonOperators is off by default, and the operators that compare are refused.",
  },
  {
    rule: /^FieldValueInvalid livenessProbe\.sleep \|\| \S.*: must be greater than 0 and less than terminationGracePeriodSeconds /,
    why: "Only without the feature PodLifecycleSleepActionAllowZero, which is on by default.",
  },
  {
    rule: /^FieldValueInvalid spec\.imagePullSecrets: only name may be set /,
    why: "Upstream's type has nothing but a name.",
  },
  {
    rule: /^FieldValueInvalid topologySpreadConstraints\.matchLabelKeys: exists in both matchLabelKeys and labelSelector /,
    why: "Only of pods from before MatchLabelKeysInPodTopologySpreadSelectorMerge, which is on: now it is said of the constraint itself.",
  },
  {
    rule: /^FieldValueRequired (containers\.(imagePullPolicy|terminationMessagePolicy) \|\| .*|fieldRef\.apiVersion|httpGet\.path|image\.pullPolicy) \(validate/,
    why: "Defaults fill it in, also where it is an empty text.",
  },
  {
    rule: /^FieldValueRequired spec\.volumes: must specify a volume type /,
    why: "A volume without a source is an empty directory by default.",
  },
];
