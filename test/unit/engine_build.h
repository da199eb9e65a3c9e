/* engine_build.h - an engine for an image, as the agent makes one: encoded, decoded, verified. */
#ifndef ET_TEST_ENGINE_BUILD_H
#define ET_TEST_ENGINE_BUILD_H

#include "engine/engine.h"
#include "lang/encode.h"

/* Running; the image stays the caller's. engine_destroy. */
static inline struct engine *engine_build(const struct dif_image *from, struct engine_options opt)
{
    struct engine *e = NULL;
    struct buf bytes = BUF_INIT;
    struct dif_image img;
    struct diags d;
    diags_init(&d);
    dif_image_init(&img);
    assert_int_equal(dif_encode(from, &bytes), 0);
    assert_int_equal(dif_decode(&img, bytes.data, bytes.len, &d), 0);
    if (dif_verify(&img, &d) != 0)
        fail_msg("%s", d.list[0].text);
    assert_int_equal(engine_create(&img, &opt, &e, &d), 0);
    engine_set_phase(e, ENGINE_RUNNING);
    buf_free(&bytes);
    diags_free(&d);
    return e;
}

#endif
