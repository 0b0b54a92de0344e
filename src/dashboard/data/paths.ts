/** What the server and the page of the dashboard agree on: paths, the form of session tokens, the link that logs in. Pure. */

export const DASHBOARD_PATH = "/dashboard/";
export const CODE_PATH = "/dashboard/code";
export const SESSION_PATH = "/dashboard/session";
/** `?resource=&namespace=&name=`: a WhyAnswer (explain/why/why-text.ts). `&at=`: of the past; `&try=true`: with remedies that were tried. */
export const WHY_PATH = "/dashboard/why";

/** The code is in the fragment: browsers send it to no server, and the page removes it from the history. */
export function loginLink(server: string, code: string): string {
  return `${server.replace(/\/+$/, "")}${DASHBOARD_PATH}#code=${code}`;
}

/** Distinguishes session tokens from other bearer tokens, which the server passes on unchanged. */
export const SESSION_PREFIX = "k8ts-dashboard-";
