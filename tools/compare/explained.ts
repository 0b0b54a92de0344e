/** Explains each known difference from the upstream snapshots. An unused explanation fails the run, so that none becomes stale. */
export interface Explanation {
  /** The name of the comparison. */
  readonly comparison: string;
  /** One difference literally, or a pattern of all with the same reason. */
  readonly difference: string | RegExp;
  readonly why: string;
}

export const explanations: readonly Explanation[] = [
  {
    comparison: "openapi-types",
    difference: /^io\.k8s\..*, enum: ours ".+", theirs ""$/,
    why: "The server of the snapshots was configured to omit enumerations. A server with default flags has them, exactly as ours.",
  },
  {
    comparison: "openapi-types",
    difference: /^io\.k8s\.apimachinery\.pkg\.apis\.meta\.v1\.(DeleteOptions|WatchEvent), kinds: /,
    why: "They are kinds of every group and version; each OpenAPI v3 document names those of its own. Groups from which nothing is deleted (admission, authentication, authorization) name none there, but do in OpenAPI v2.",
  },
  {
    comparison: "description-texts",
    difference: /^io\.k8s\.apimachinery\.pkg\.api\.resource\.Quantity: /,
    why: "No package that we generate from describes it, so the description is ours.",
  },
  {
    comparison: "list-semantics",
    difference: "core.v1.PersistentVolumeClaimStatus allocatedResourceStatuses: ours nothing, theirs mapType=granular",
    why: "A map is granular unless something else is said, so saying it changes nothing.",
  },
  {
    comparison: "protobuf-fields",
    difference:
      "k8s.io.api.core.v1.Probe 1: ours optional .k8s.io.api.core.v1.ProbeHandler probeHandler, theirs optional .k8s.io.api.core.v1.ProbeHandler handler",
    why: "An inlined struct has no name in JSON, so we compare with the name of its type. The wire has numbers only.",
  },
  {
    comparison: "protobuf-fields",
    difference:
      /^k8s\.io\.apiextensions_apiserver\..*\.JSONSchemaProps \d+: ours (\S+ \S+) (\$|x-kubernetes-)\S+, theirs \1 (ref|schema|xKubernetes\w+)$/,
    why: "The names in JSON have characters that names in protobuf cannot have. The wire has numbers only.",
  },
  {
    comparison: "protobuf-fields",
    difference: /^k8s\.io\..*\.(Duration|FieldsV1|IntOrString|JSON|MicroTime|Quantity|RawExtension|Time): we do not have it$/,
    why: "It has no fields in JSON. The protobuf codec identifies its message by the format of the schema.",
  },
  {
    comparison: "protobuf-fields",
    difference: /^k8s\.io\..*\.JSONSchemaPropsOr(Array|Bool|StringArray): we do not have it$/,
    why: "It is a choice in our schemas (schema.ts), not a type with fields. Tests compare its numbers and its bytes with upstream's.",
  },
  {
    comparison: "protobuf-fields",
    difference: "k8s.io.apimachinery.pkg.api.resource.QuantityValue: we do not have it",
    why: "A Go type that shares Quantity's message and is in no type of the API.",
  },
  {
    comparison: "protobuf-fields",
    difference: /^k8s\.io\.apimachinery\.pkg\.apis\.testapigroup\./,
    why: "A group for upstream's own tests, which no server has.",
  },
  {
    comparison: "discovery",
    difference: /(mutatingadmissionpolic\w+|customresourcedefinitions), storageVersionHash: /,
    why: "Upstream stores them as v1beta1, a version that it does not serve, for compatibility with older servers. We have none.",
  },
  {
    comparison: "openapi-documents",
    difference: /^(api|apis)\/\S*( \S+)?: we do not serve it$/,
    why: "The kinds are added one by one, as siblings of the existing ones.",
  },
  {
    comparison: "openapi-documents",
    difference: /^(\.well-known\/openid-configuration|openid\/v1\/jwks): we do not serve it$/,
    why: "It comes with the tokens of ServiceAccounts.",
  },
  {
    comparison: "openapi-documents",
    difference: "logs: we do not serve it",
    why: "Log files of the server's machine, which upstream serves if configured. We have none.",
  },
  {
    comparison: "openapi-documents",
    difference: /\.PersistentVolumeClaimStatus\.allocatedResourceStatuses: ours \{.*\}, theirs \{.*"x-kubernetes-map-type":"granular"\}$/,
    why: "A map is granular unless something else is said, so saying it changes nothing.",
  },
  {
    comparison: "openapi-documents",
    difference: /\.APIServiceSpec\.caBundle: ours .*, theirs .*"x-kubernetes-list-type":"atomic"\}$/,
    why: "Bytes are a text here, not a list; upstream's tag on them has no effect.",
  },
  {
    comparison: "openapi-documents",
    difference: /, media types: ours (.*), theirs (?:application\/\S*cbor\S* )+\1$/,
    why: "The server of the snapshots had every feature enabled, CBOR among them, which is off by default.",
  },
  {
    comparison: "openapi-documents",
    difference: /, query parameter shardSelector: ours nothing, theirs string$/,
    why: "An alpha feature (ShardedListAndWatch), off by default.",
  },
  {
    comparison: "openapi-documents",
    difference: /^delete \/api\/v1\/namespaces\/\{name\}, answer 20[02]: ours \S+\.Namespace, theirs \S+\.Status$/,
    why: "Upstream's document says so, but its server returns the Namespace, as ours does.",
  },
];
