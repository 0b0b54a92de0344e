/**
 * Negotiates the representation of a response. The server stores JSON, so a client that accepts JSON gets it, whatever else it accepts;
 * protobuf is encoded for clients that do not. Metadata alone is encoded in any case, so there the client's order decides: items of a
 * PartialObjectMetadataList have a kind in JSON and none in protobuf. Accept headers repeat, so results are cached.
 */
import { Lru } from "../../base/lru.ts";
import {
  BUILT_IN_TYPES,
  JSON_TYPE,
  namesOneOf,
  negotiate,
  noRepresentation,
  notAcceptable,
  PROTOBUF_TYPE,
  streamTypes,
  YAML_TYPE,
  type NegotiatedType,
} from "../../api/machinery/codec/media-type.ts";
import type { StatusError } from "../../api/machinery/status-error.ts";

export interface AnswerForm {
  readonly mediaType: string;
  readonly as: "object" | "Table" | "PartialObjectMetadata";
  /** The version of meta.k8s.io. */
  readonly metaVersion: "v1" | "v1beta1";
}

/** The requested kind of response decides which conversions are supported. */
export type AskedFor = "object" | "list" | "watch" | "value";

/** Maximum number of cached Accept headers; real clients have a handful. */
const HEADERS_MAX = 256;

const known = new Lru<string, AnswerForm>({ max: HEADERS_MAX });

/** Throws NotAcceptable. */
export function answerForm(accept: string | undefined, asked: AskedFor): AnswerForm {
  const key = `${asked} ${accept ?? ""}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  const first = negotiated(accept, BUILT_IN_TYPES, asked);
  const isMetadata = first?.as === "PartialObjectMetadata";
  const form = isMetadata ? first : (negotiated(accept, [JSON_TYPE, YAML_TYPE], asked) ?? first);
  if (form === undefined) throw refusalOf(accept, asked);
  known.set(key, form);
  return form;
}

function negotiated(accept: string | undefined, types: readonly string[], asked: AskedFor): AnswerForm | undefined {
  const found = negotiate(accept, types, (candidate) => formOf(candidate, asked) !== undefined);
  return found === undefined ? undefined : formOf(found, asked);
}

/**
 * Upstream rejects in two places, each with its own message: types that no path serves, and then representations that this response does
 * not support.
 */
function refusalOf(accept: string | undefined, asked: AskedFor): StatusError {
  const streams = streamTypes([JSON_TYPE, PROTOBUF_TYPE]);
  if (!namesOneOf(accept, BUILT_IN_TYPES)) {
    return noRepresentation(asked === "list" || asked === "watch" ? [...BUILT_IN_TYPES, ...streams] : BUILT_IN_TYPES);
  }
  const isForm = (candidate: NegotiatedType) => formOf(candidate, "list") !== undefined;
  return notAcceptable(asked === "watch" && negotiate(accept, BUILT_IN_TYPES, isForm) !== undefined ? streams : BUILT_IN_TYPES);
}

function formOf({ mediaType, convert, stream }: NegotiatedType, asked: AskedFor): AnswerForm | undefined {
  if (stream !== undefined && stream !== "watch") return undefined;
  // Upstream does not stream YAML.
  if (asked === "watch" && mediaType === YAML_TYPE) return undefined;
  if (convert === undefined) return { mediaType, as: "object", metaVersion: "v1" };
  const { group, version, kind } = convert;
  if (asked === "value" || group !== "meta.k8s.io" || (version !== "v1" && version !== "v1beta1")) return undefined;
  const wanted = kind === "PartialObjectMetadataList" ? "PartialObjectMetadata" : kind;
  const isList = asked === "list";
  // Upstream's tables do not support protobuf.
  if (wanted === "Table" && mediaType === PROTOBUF_TYPE) return undefined;
  if (wanted === "Table") return { mediaType, as: "Table", metaVersion: version };
  if (wanted !== "PartialObjectMetadata") return undefined;
  // Lists are requested as PartialObjectMetadataList, objects as PartialObjectMetadata.
  if (isList !== (kind === "PartialObjectMetadataList")) return undefined;
  return { mediaType, as: "PartialObjectMetadata", metaVersion: version };
}
