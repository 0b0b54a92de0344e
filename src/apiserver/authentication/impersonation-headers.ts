/** Parses the impersonation headers of a request. */
import { badRequest } from "../../api/machinery/status-error.ts";
import { quoteGo } from "../../api/machinery/codec/go-text.ts";
import type { ExchangeRequest } from "../framework/exchange.ts";
import { extraHeaders, firstHeaderText, headerTexts } from "./header-text.ts";

export interface WantedUser {
  readonly name: string;
  /** "" for none. */
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: ReadonlyMap<string, readonly string[]>;
}

const PREFIX = "impersonate-";
const USER = "impersonate-user";
const UID = "impersonate-uid";
const GROUP = "impersonate-group";
const EXTRA_PREFIX = "impersonate-extra-";

/** undefined: the request does not impersonate. */
export function wantedUser(request: ExchangeRequest): WantedUser | undefined {
  if (!request.headerNames().some((name) => name.startsWith(PREFIX))) return undefined;
  const wanted: WantedUser = {
    name: firstHeaderText(request, USER),
    uid: firstHeaderText(request, UID),
    groups: headerTexts(request, GROUP),
    extra: extraHeaders(request, EXTRA_PREFIX),
  };
  if (wanted.name !== "") return wanted;
  if (wanted.uid === "" && wanted.groups.length === 0 && wanted.extra.size === 0) return undefined;
  throw badRequest(`requested ${describe(wanted)} without impersonating a user name`);
}

/** Formatted like Go's %v of upstream's value: it is part of the error. */
function describe({ name, uid, groups, extra }: WantedUser): string {
  const keys = [...extra.keys()].toSorted();
  const entries = keys.map((key) => `${quoteGo(key)}:${list(extra.get(key) ?? [])}`);
  const shownExtra = entries.length === 0 ? "map[string][]string(nil)" : `map[string][]string{${entries.join(", ")}}`;
  const shownGroups = groups.length === 0 ? "[]string(nil)" : list(groups);
  return `&user.DefaultInfo{Name:${quoteGo(name)}, UID:${quoteGo(uid)}, Groups:${shownGroups}, Extra:${shownExtra}}`;
}

function list(texts: readonly string[]): string {
  return `[]string{${texts.map(quoteGo).join(", ")}}`;
}
