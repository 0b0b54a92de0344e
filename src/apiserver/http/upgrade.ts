/**
 * The contract of what answers WebSockets that are no watches (exec, attach, port-forward, log): it looks at the request and says
 * what is to become of it. Values in, a value out; the connection comes afterwards.
 */
import type { WebSocketConnection } from "../../host/http/contract.ts";
import type { ExchangeRequest, WholeAnswer } from "../exchange.ts";

/** Must not reject: what goes wrong is an answer, too. */
export type UpgradeHandler = (request: ExchangeRequest, offered: readonly string[]) => Promise<UpgradeVerdict>;

export type UpgradeVerdict =
  /** `protocol` is one of those offered; absent: none. `run` is called once, when the connection is there. */
  | { readonly kind: "accept"; readonly protocol?: string; run(connection: WebSocketConnection): void }
  | { readonly kind: "refuse"; readonly answer: WholeAnswer }
  /** Not one of mine: the request goes the way of all others, and if the answer is a watch, it becomes a WebSocket of events. */
  | { readonly kind: "pass" };
