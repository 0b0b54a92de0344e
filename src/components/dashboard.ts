/** The dashboard on the port of an API server, with secrets of this machine. */
import { randomBytes } from "node:crypto";
import type { Exchange } from "../apiserver/framework/exchange.ts";
import { withDashboard } from "../dashboard/server/dashboard-exchange.ts";
import type { CoreContext } from "./api-server/start-api-server.ts";

/** Of randomness: not to be guessed. */
const SECRET_BYTES = 32;

/** For `aroundExchange` of an API server. */
export function dashboardAround({ clock, log }: CoreContext): (exchange: Exchange) => Exchange {
  const secret = () => randomBytes(SECRET_BYTES).toString("base64url");
  return (exchange) => withDashboard(exchange, { clock, log: log.with({ part: "dashboard" }), secret });
}
