// token.ts - what opens the server. It comes behind the # of the address that `erltrace serve` has printed, is taken out of the address, and
// kept for this origin, port included: unlike a cookie it never goes to another server, nor anywhere by itself.
const KEY = "erltrace-token";
let known = "";

/** Takes the token out of what is behind the #, if it is there; what is left. */
export function take(hash: string): string {
    const p = new URLSearchParams(hash.replace(/^#/, ""));
    const given = p.get("token");
    if (given === null) return hash;
    known = given;
    try {
        localStorage.setItem(KEY, given);
    } catch {
        // a browser that keeps nothing: until the page is closed
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

/** A request of our own server. */
export function ask(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(path, { ...init, credentials: "same-origin", headers: { "x-erltrace-token": token() } });
}
