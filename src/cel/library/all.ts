/** The libraries of Kubernetes 1.36. Order matters where several have a function of one name: overloads are tried in this order. */
import { addresses } from "./addresses.ts";
import { authorizer } from "./authorizer.ts";
import { conversions } from "./conversions.ts";
import type { Library } from "./library.ts";
import { listExtensions, lists } from "./lists.ts";
import { namedFormats } from "./named-formats.ts";
import { operators } from "./operators.ts";
import { optionals } from "./optionals.ts";
import { jsonPatch } from "./patch-objects.ts";
import { patterns } from "./patterns.ts";
import { quantities } from "./quantities.ts";
import { semvers } from "./semvers.ts";
import { texts } from "./texts.ts";
import { times } from "./times.ts";
import { urls } from "./urls.ts";

export const LIBRARIES: readonly Library[] = [
  operators,
  conversions,
  times,
  urls,
  patterns,
  lists,
  authorizer,
  optionals,
  quantities,
  texts,
  addresses,
  namedFormats,
  semvers,
  listExtensions,
];

/** Only of mutating policies. */
export const PATCH_LIBRARIES: readonly Library[] = [jsonPatch];
