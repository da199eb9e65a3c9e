/* json_lines.h - the shapes of --json: one object on one line for every record, aggregation, drop
 * and error. doc/json.md is the same for users. Numbers are exact 64-bit integers; text that is not
 * UTF-8 has U+FFFD in place of the bytes that are not. "node" is "" for the local tier.
 *
 *   {"type":"record","epid":1,"probe":P,"node":"a@b","cpu":0,"timestamp":123,"data":[D,...]}
 *     P {"id":1,"provider":"dtrace","module":"","function":"","name":"BEGIN"}
 *     D {"action":"trace","value":V}
 *       {"action":"printf","text":"...","values":[V,...]}
 *       {"action":"printa","text":"...","aggregations":[{"name":"@a","function":"count"},...],
 *                          "rows":[{"keys":[V,...],"values":[A,...]},...]}
 *       {"action":"clear","aggregation":"@a"}            and trunc, normalize, denormalize,
 *       {"action":"trunc","aggregation":"@a","value":5}  with the number if there is one
 *       {"action":"exit","status":0}
 *       {"action":"system","text":"...","values":[V,...]} and freopen
 *       {"action":"setopt","values":["quiet","1"]}        and ftruncate, without values
 *     V an integer or a string; A an integer or, of a histogram, [B,...]
 *   {"type":"aggregation","name":"@a","function":"sum","keys":[V,...],"value":42}
 *   {"type":"aggregation","name":"@a","function":"quantize","keys":[V,...],"buckets":[B,...]}
 *     B {"from":4,"to":7,"count":2}  both ends included; null: not bounded. Only buckets
 *       that are not zero.
 *   {"type":"drop","kind":"principal","count":3,"node":"a@b","text":"3 drops on a@b"}
 *     kinds: principal aggregation dynamic dblerror thread spec specbusy specunavail; count is
 *     since the last one
 *   {"type":"error","severity":"error","tag":"DTRACEFLT_DIVZERO","text":"divide-by-zero","epid":1,
 *    "probe":P,"node":"","cpu":0,"action":1,"offset":12,"value":0}
 *     a fault; action null: in the predicate; offset null: not known. Diagnostics have the shape
 *     of diag.h.
 */
#ifndef ET_RESULT_JSON_LINES_H
#define ET_RESULT_JSON_LINES_H

#include "result/report.h"

extern const struct observer report_json; /* its argument: a struct report */

#endif
