/** Explains each rule of upstream that no test covers. An unused explanation fails the run, so that none becomes stale. */
export interface Explanation {
  /** Restricts it to one kind; default: all. */
  readonly kind?: string;
  /** The rule as rules.ts describes it. */
  readonly rule: string | RegExp;
  readonly why: string;
}

export const explanations: readonly Explanation[] = [
  {
    rule: /^InternalError /,
    why: "Upstream reports it for its own defects, or for Go values that JSON cannot express.",
  },
  {
    rule: /error generating diff/,
    why: "Upstream reports it if it cannot encode an object that it has just decoded.",
  },
  {
    rule: /: must be an integer or percentage \(e\.g '5%%'\)/,
    why: "A value that is neither a number nor a string is rejected when it is decoded.",
  },
  {
    rule: /^FieldValueRequired resourceVersion \(/,
    why: "A write without a resourceVersion gets that of the object before validation.",
  },
  {
    rule: /: (hostProcess containers are )?disallowed by cluster policy/,
    why: "Only if upstream's server is started without --allow-privileged. Ours allows privileged containers, as clusters do.",
  },
  {
    kind: "CustomResourceDefinition",
    rule: /x-kubernetes-validations|: failed rule|rule compile|evaluating rule|call cost|cost budget|rule cost|runtime cost|operator, function or macro/,
    why: "Expressions are compiled by the API server, not by the kind: src/apiserver/customresources tests their errors and costs.",
  },
  {
    rule: /^FieldValue(Invalid|Required|Forbidden) \S*([eE]xpression): (…|too complex)/,
    why: "Expressions are compiled by the API server, not by the kind: its tests of policies and device selectors, and test/cel, show the errors.",
  },
  {
    kind: "CustomResourceDefinition",
    rule: /^FieldValue(Duplicate|Forbidden) (items\.default \|\| openAPIV3Schema\.default \|\| properties\.default)? ?\(validate\)$/,
    why: "A default is rejected in this way only by a rule with this reason, which the API server evaluates: src/apiserver/customresources tests it.",
  },
  {
    kind: "CustomResourceDefinition",
    rule: /^FieldValueInvalid \S+\.(JSONPath|\w+Path): must (not be empty|be a json path in the dot notation) /,
    why: "Upstream checks first whether the path is empty, and after splitting it whether there are no parts; there is always one.",
  },
  {
    kind: "CustomResourceDefinition",
    rule: /^FieldValueInvalid versions\.schema: error building validator/,
    why: "Only a reference to another schema can fail to build, and references are rejected earlier.",
  },
  {
    kind: "CustomResourceDefinition",
    rule: "FieldValueForbidden default: must not be set (specStandardValidatorV3.validate)",
    why: "Version v1 allows defaults; where it does not, upstream always adds the reason.",
  },
  {
    kind: "CustomResourceDefinition",
    rule: /^FieldValueRequired schema\.openAPIV3Schema \|\| validation\.openAPIV3Schema: because it is defined in/,
    why: "Applies to a condition on something without a schema; the root has one, or nothing is checked.",
  },
  {
    kind: "CustomResourceDefinition",
    rule: /mutually exclusive|may not all be set to identical values| spec\.(version|validation): /,
    why: "Fields of upstream's internal type, which no served version can set.",
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
    why: "Upstream checks this for storage, which may be fractional.",
  },
  {
    kind: "PersistentVolumeClaim",
    rule: /^FieldValueInvalid spec\.resources: must be greater than or equal to 0 /,
    why: "Upstream checks before whether it is greater than zero, and continues only then.",
  },
  {
    kind: "PersistentVolumeClaim",
    rule: /^FieldValueInvalid status\.allocatedResources: must be greater than or equal to 0 /,
    why: "Upstream reports this for amounts below -9.2E whose int64 has overflowed. Ours has one message for all negative amounts.",
  },
  {
    kind: "CSIDriver",
    rule: /^FieldValueRequired spec\.(attachedRequired|podInfoOnMount|seLinuxMount|storageCapacity) /,
    why: "Set by defaults.",
  },
  {
    kind: "StorageClass",
    rule: /^FieldValueRequired volumeBindingMode /,
    why: "Set by defaults.",
  },
  {
    kind: "IngressClass",
    rule: /^FieldValueRequired parameters\.scope /,
    why: "Set by defaults.",
  },
  {
    rule: /^FieldValueRequired (spec\.failurePolicy|match(Constraints|Resources)\.(matchPolicy|namespaceSelector|objectSelector)) \(validate/,
    why: "Set by the defaults of admission policies and their bindings.",
  },
  {
    rule: /^FieldValueForbidden spec\.param(Kind|Ref): cannot identify user /,
    why: "Asks an authorizer whether the user may read the parameters: authorization comes with the issue on identity.",
  },
  {
    kind: "ValidatingAdmissionPolicy",
    rule: /^FieldValueRequired validations\.message: message must be specified if expression contains line breaks/,
    why: "Upstream checks whether the message is empty only after it has found line breaks in it.",
  },
  {
    kind: "CertificateSigningRequest",
    rule: /^FieldValueForbidden status\.certificate: updates may not set certificate content/,
    why: "A write that may not set the certificate gets the previous one before validation.",
  },
  {
    kind: "EndpointSlice",
    rule: /^FieldValue(Invalid|TooMany) endpoints\.deprecatedTopology: /,
    why: "Version v1 drops the field, and no other version is served.",
  },
  {
    kind: "EndpointSlice",
    rule: "FieldValueInvalid endpoints.addresses: must be a valid IP address (validateEndpoints)",
    why: "Upstream validates addresses a second time, more strictly, after the first validation has passed.",
  },
  {
    kind: "PriorityLevelConfiguration",
    rule: /^FieldValueInvalid limited\.assuredConcurrencyShares: /,
    why: "The name of the field in versions v1beta1 and v1beta2, which are not served. In the others it is nominalConcurrencyShares.",
  },
  {
    rule: /^FieldValueInvalid (opaque\.parameters|devices\.data): error parsing data as JSON: /,
    why: "Only protobuf can carry invalid JSON, which our decoder rejects.",
  },
  {
    kind: "ResourceClaim",
    rule: "FieldValueRequired devices.data (validateDeviceStatus)",
    why: "Data that is null counts as absent, as in upstream's JSON decoder.",
  },
  {
    kind: "ResourceClaim",
    rule: /^FieldValueForbidden status\.(allocation|devices): changing status\./,
    why: "Asks an authorizer whether the user may write this part of the status: authorization comes with the issue on identity.",
  },
  {
    kind: "ResourceClaim",
    rule: /^FieldValueRequired tolerations\.operator \(validateDeviceToleration\)/,
    why: "Set by defaults.",
  },
  {
    rule: /^FieldValueRequired (constraints\.(distinct|match)Attribute|devices\.(attributes|capacity)) \(validateDevice/,
    why: "Applies to an empty driver name; an empty domain is rejected earlier, with another message.",
  },
  {
    rule: /^FieldValueTooMany (status\.devices|devices\.(attributes|capacity)): has too many items /,
    why: "These have no separate limit.",
  },
  {
    kind: "ResourceSlice",
    rule: / attributes\.(bools|ints|strings|versions): /,
    why: "The feature DRAListTypeAttributes is off by default, and the fields are dropped.",
  },
  {
    rule: /^FieldValueRequired spec\.template \(Validate(Deployment|ReplicaSet|StatefulSet)Spec\)/,
    why: "The template is a value in upstream's type, so it always exists; without containers it is rejected for that.",
  },
  {
    kind: "Deployment",
    rule: /^FieldValueRequired strategy\.rollingUpdate: this should be defaulted/,
    why: "Every rolling strategy has steps by default.",
  },
  {
    kind: "DaemonSet",
    rule: /^FieldValueInvalid spec\.templateGeneration: /,
    why: "Before validation the number becomes at least 1 on create; on update it is the previous one, incremented with a new template.",
  },
  {
    kind: "ControllerRevision",
    rule: /^FieldValueInvalid data: error parsing data: /,
    why: "Invalid JSON is rejected when the request is decoded, in protobuf as well (machinery/codec/protobuf.ts).",
  },
  {
    kind: "Job",
    rule: /^FieldValueInvalid status\.conditions: cannot set SuccessCriteriaMet(=True for Job without SuccessPolicy| to NonIndexed Job) /,
    why: "The feature JobManagedBy is on by default, and permits the condition on every Job.",
  },
  {
    kind: "Eviction",
    rule: /^FieldValueInvalid deleteOptions\.ignoreStoreReadErrorWithClusterBreakingPotential: /,
    why: "Not stored, so validated where it is executed: apiserver/resources/pod/eviction.ts, covered by its test.",
  },
  {
    kind: "Scale",
    rule: /^FieldValueInvalid spec\.replicas: must be greater than or equal to 0 \(ValidateScale\)/,
    why: "Not stored, so validated where it is executed: apiserver/verbs/scale.ts, covered by its test.",
  },
  {
    kind: "Service",
    rule: /^FieldValueInvalid (ports\.nodePort: provided port is already allocated|spec\.clusterIPs: failed to allocate IP …: …)/,
    why: "Reported by the allocator: apiserver/resources/service/service-extension.ts, covered by its test and service-numbers.test.ts.",
  },
  {
    kind: "Service",
    rule: "FieldValueInvalid spec.clusterIPs: failed to allocate IP: … (Allocators.allocIPs)",
    why: "Upstream reports it if its store fails while it allocates an address; an exhausted range is another error.",
  },
  {
    kind: "Service",
    rule: /^FieldValueInvalid spec\.clusterIPs: unknown is not configured on this cluster /,
    why: "Invalid addresses are rejected earlier.",
  },
  {
    kind: "Service",
    rule: "FieldValueInvalid spec.externalIPs: must be a valid IP address (validateService)",
    why: "Applies only to addresses stored before validation existed: a new one is rejected with another message.",
  },
  {
    kind: "Service",
    rule: /^FieldValueRequired spec\.(type|healthCheckNodePort) \(validateService/,
    why: "The type has a default, and the health check port is allocated before validation.",
  },
  {
    rule: /^FieldValue\w+ (: `tailLines` and specific|stream: (supported values: …|must be specified) )/,
    why: "The feature PodLogsQuerySplitStreams is off by default, and the stream cannot be selected.",
  },
  {
    kind: "Pod",
    rule: /^FieldValueForbidden status\.nodeName: may not be changed directly /,
    why: "A status write keeps the spec, which is what this compares.",
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
    why: "Upstream checks exec first, so it is never the second.",
  },
  {
    rule: /^FieldValueInvalid (downwardAPI|valueFrom)\.fieldRef: does not support subscript /,
    why: "Such a path is rejected at fieldRef.fieldPath, with another message.",
  },
  {
    rule: /^FieldValueInvalid grpc\.port: must be no more than 15 characters /,
    why: "This port is a number: a name is rejected when it is decoded.",
  },
  {
    rule: /^FieldValueInvalid initContainers\.resizePolicy: must not be set for init containers /,
    why: "Only without the feature InPlacePodVerticalScaling, which is on by default.",
  },
  {
    rule: /^FieldValueInvalid io\/tolerations\.value \|\| tolerations\.value: /,
    why: "The feature TaintTolerationComparisonOperators is off by default, and the comparison operators are rejected.",
  },
  {
    rule: /^FieldValueInvalid livenessProbe\.sleep \|\| \S.*: must be greater than 0 and less than terminationGracePeriodSeconds /,
    why: "Only without the feature PodLifecycleSleepActionAllowZero, which is on by default.",
  },
  {
    rule: /^FieldValueInvalid spec\.imagePullSecrets: only name may be set /,
    why: "Upstream's type has only a name.",
  },
  {
    rule: /^FieldValueInvalid topologySpreadConstraints\.matchLabelKeys: exists in both matchLabelKeys and labelSelector /,
    why: "Applies only to Pods from before MatchLabelKeysInPodTopologySpreadSelectorMerge, which is on: now the constraint itself is reported.",
  },
  {
    rule: /^FieldValueRequired (containers\.(imagePullPolicy|terminationMessagePolicy) \|\| .*|fieldRef\.apiVersion|httpGet\.path|image\.pullPolicy) \(validate/,
    why: "Set by defaults, also for an empty string.",
  },
  {
    rule: /^FieldValueRequired spec\.volumes: must specify a volume type /,
    why: "A volume without a source is an emptyDir by default.",
  },
];
