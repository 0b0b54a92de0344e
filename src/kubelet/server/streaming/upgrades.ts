/** Upgrade constants that several handlers share. */

/** Value of the Upgrade header, in lower case. */
export const SPDY = "spdy/3.1";

/** Response to a request that requires an upgrade and has none. */
export const UPGRADE_REQUIRED = "Upgrade request required\n";
