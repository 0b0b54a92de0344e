/** Words of upgrades that several handlers have. */

/** As the header Upgrade says it, in lower case. */
export const SPDY = "spdy/3.1";

/** To a request that needs a stream and does not ask for one. */
export const UPGRADE_REQUIRED = "Upgrade request required\n";
