/**
 * Records of causes as lines of the cause log: JSON without member names, in a fixed order. Not here: the files (components/api-server).
 */
import type { CauseRecord } from "../framework/recording/causes.ts";
import type { PassedStages } from "../framework/recording/request-trail.ts";

/** A record as it is kept: a CauseRecord, or a commit whose stages are not objects yet. */
export type LineSource = { readonly [Member in keyof CauseRecord]: CauseRecord[Member] | undefined } & {
  readonly passed?: PassedStages | undefined;
};

/** Hot path (called per logged commit): the text is written directly, since an array of the values costs as much again. */
export function causeLine(record: LineSource): string {
  const { id, timeMs, revision, requestId, verb, group, plural, subresource, namespace, name, user, userAgent } = record;
  const head = `[${id},${timeMs},${revision},${requestId === undefined ? "null" : JSON.stringify(requestId)}`;
  const resource = `${JSON.stringify(verb)},${JSON.stringify(group)},${JSON.stringify(plural)},${JSON.stringify(subresource)}`;
  const names = `${JSON.stringify(namespace)},${JSON.stringify(name)},${JSON.stringify(user)},${JSON.stringify(userAgent)}`;
  return `${head},${resource},${names},${optionalJson(record)}]`;
}

function optionalJson({ deleted, cause, admission, refusal, stages, passed }: LineSource): string {
  const given = passed === undefined ? jsonOrNull(stages) : passed.json();
  return `${deleted ?? null},${jsonOrNull(cause)},${jsonOrNull(admission)},${jsonOrNull(refusal)},${given}`;
}

function jsonOrNull(value: object | undefined): string {
  return value === undefined ? "null" : JSON.stringify(value);
}

/** None if the line cannot be read: torn by a crash, or of another version. */
export function readCauseLine(line: string): readonly CauseRecord[] {
  let values: unknown;
  try {
    values = JSON.parse(line);
  } catch {
    return [];
  }
  if (!Array.isArray(values) || !LINE_LENGTHS.includes(values.length) || typeof values[0] !== "number") return [];
  const [id, timeMs, revision, requestId, verb, group, plural, subresource, namespace, name, user, userAgent, ...optional] = values as Line;
  const [deleted, cause, admission, refusal, stages = null] = optional;
  const head = { id, timeMs, revision, verb, group, plural, subresource, namespace, name, user, userAgent };
  return [
    {
      ...head,
      ...(requestId === null ? {} : { requestId }),
      ...(deleted === null ? {} : { deleted }),
      ...(cause === null ? {} : { cause }),
      ...(admission === null ? {} : { admission }),
      ...(refusal === null ? {} : { refusal }),
      ...(stages === null ? {} : { stages }),
    },
  ];
}

type Head = [id: number, timeMs: number, revision: number, requestId: string | null];
type Names = [
  verb: string,
  group: string,
  plural: string,
  subresource: string,
  namespace: string,
  name: string,
  user: string,
  agent: string,
];
type Optional = [
  deleted: true | null,
  cause: NonNullable<CauseRecord["cause"]> | null,
  admission: NonNullable<CauseRecord["admission"]> | null,
  refusal: NonNullable<CauseRecord["refusal"]> | null,
  stages?: NonNullable<CauseRecord["stages"]> | null,
];
type Line = [...Head, ...Names, ...Optional];
/** Records of older versions have no stages. */
const LINE_LENGTHS: readonly number[] = [16, 17];
