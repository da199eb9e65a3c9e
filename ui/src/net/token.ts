// token.ts - the token that opens the server. It follows the # in the address that `erltrace serve` printed, is removed from the address,
// and is kept for this origin, port included: unlike a cookie it is never sent to another server, and never automatically.
const KEY = "erltrace-token";
let known = "";

/** Takes the token out of what follows the #, if it is there; returns the rest. */
export function take(hash: string): string {
    const p = new URLSearchParams(hash.replace(/^#/, ""));
    const given = p.get("token");
    if (given === null) return hash;
    known = given;
    try {
        localStorage.setItem(KEY, given);
    } catch {
        // a browser that stores nothing: kept until the page is closed
    }
    p.delete("token");
    return p.toString();
}

export function token(): string {
    try {
        known ||= localStorage.getItem(KEY) ?? "";
    } catch {
        // as above
    }
    return known;
}

/** A request to our own server. */
export function ask(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(path, { ...init, credentials: "same-origin", headers: { "x-erltrace-token": token() } });
}
