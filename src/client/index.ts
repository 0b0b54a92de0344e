/** The package's entry `k8ts/client`: how a program talks to the API. Empty until there is an API to talk to. */
export {};
