# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The programs that run for each corner and each pixel.

Image rows count downwards here, so that pixels are read in the order of an image message.
Colours are those of image files; light is added in linear units and so enters by its square root
(a gamma of 2). A white surface that faces sun and sky comes out as just white: nothing is clipped.
"""

#: What is the same in one picture, see `renderer.FRAME`.
FRAME = """
layout(std140, binding = 0) uniform Frame {
    mat4 view;
    mat4 sun_near;      // from positions to the nearer and the farther shadow map, -1 to 1
    mat4 sun_far;
    vec4 sun;           // towards it; w: depth of what is as far as can be seen
    vec4 sun_color;     // its brightest channel is 1
    vec4 sun_share;     // x: its light on a surface that faces it
    vec4 sky_light;     // x: light on a surface that faces up; yz: where the sky is brighter
    vec4 ground_light;  // x: light on one that faces down
    vec4 texel;         // size of a pixel of both shadow maps [m]
    mat4 ways;          // from places in the picture, -1 to 1, to directions
    vec4 floor_level;   // x: level of a floor that is only painted, relative to the eye
};
"""

SOLID_VERTEX = """
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec2 texcoord;
layout(location = 3) in vec4 color;
layout(location = 4) in mat4 place;
out vec2 uv; out vec4 tint;
out vec4 light;  // in the shade and in the sun: of the front, of the back
#ifdef SHADOWS
out vec3 in_near; out vec3 in_far;
#endif
float ambient(vec3 n) {
    return mix(ground_light.x, sky_light.x, 0.5 + 0.5 * n.z) * (1.0 + dot(n.xy, sky_light.yz));
}
void main() {
    vec4 world = place * vec4(position, 1.0);
    vec3 n = normalize(mat3(place) * normal);
    uv = texcoord; tint = color;
    float facing = dot(n, sun.xyz);
    vec2 shade = vec2(ambient(n), ambient(-n));
    vec2 lit = shade + sun_share.x * max(vec2(facing, -facing), 0.0);
    light = sqrt(min(vec4(shade.x, lit.x, shade.y, lit.y), 1.0));
    gl_Position = view * world;
#ifdef SHADOWS
    // Looked up beside the surface, the farther the more it slants, not to shade itself.
    vec3 aside = n * sign(facing) * (1.0 + 1.5 * sqrt(max(1.0 - facing * facing, 0.0)));
    in_near = (sun_near * vec4(world.xyz + texel.x * aside, 1.0)).xyz;
    in_far = (sun_far * vec4(world.xyz + texel.y * aside, 1.0)).xyz;
#endif
}
"""

SOLID_PIXEL = """
in vec2 uv; in vec4 tint; in vec4 light;
#ifdef SHADOWS
in vec3 in_near; in vec3 in_far;
layout(binding = 1) uniform sampler2DArrayShadow shadow;
#endif
layout(location = 0) out vec4 pixel;
layout(binding = 0) uniform sampler2D image;
void main() {
    vec2 bright = gl_FrontFacing ? light.xy : light.zw;
#ifdef SHADOWS
    bool nearer = max(abs(in_near.x), abs(in_near.y)) < 0.99;
    vec3 p = nearer ? in_near : in_far;
    float open = texture(shadow, vec4(p.xy * 0.5 + 0.5, nearer ? 0.0 : 1.0, p.z));
    if (max(abs(p.x), abs(p.y)) > 1.0) open = 1.0;
    vec3 sum = bright.x + open * (bright.y - bright.x) * sun_color.rgb;
#else
    vec3 sum = bright.x + (bright.y - bright.x) * sun_color.rgb;
#endif
#ifdef TEXTURED
    sum *= texture(image, uv).rgb;
#endif
    pixel = vec4(tint.rgb * sum, tint.a);
}
"""

#: Positions only: of shadow maps and depth images.
PLAIN_VERTEX = """
layout(location = 0) in vec3 position;
layout(location = 4) in mat4 place;
void main() { gl_Position = VIEW * (place * vec4(position, 1.0)); }
"""

PLAIN_PIXEL = """
void main() {}
"""

SKY_VERTEX = """
out vec3 way;
void main() {
    vec2 p = vec2(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0);
    way = mat3(ways) * vec3(p, 1.0);
    gl_Position = vec4(p, sun.w, 1.0);
}
"""

SKY_PIXEL = """
in vec3 way;
layout(location = 0) out vec4 pixel;
layout(binding = 0) uniform samplerCube sky;
#ifdef FLOOR
layout(binding = 1) uniform sampler2DArrayShadow shadow;
float light_at(vec3 at) {
    vec3 near = (sun_near * vec4(at, 1.0)).xyz, far = (sun_far * vec4(at, 1.0)).xyz;
    bool nearer = max(abs(near.x), abs(near.y)) < 0.99;
    vec3 p = nearer ? near : far;
    if (max(abs(p.x), abs(p.y)) > 1.0) return 1.0;
    return texture(shadow, vec4(p.xy * 0.5 + 0.5, nearer ? 0.0 : 1.0, min(p.z, 1.0)));
}
#endif
void main() {
#ifdef BOXED
    // A cube is looked at along z with x to the right and y up, as if by a left-handed frame.
    pixel = vec4(texture(sky, vec3(-way.y, way.z, way.x)).rgb, 1.0);
#else
    float up = way.z * inversesqrt(dot(way, way));
    vec3 above = mix(vec3(0.78, 0.86, 0.94), vec3(0.36, 0.56, 0.86), clamp(up * 1.6, 0.0, 1.0));
    vec3 below = mix(vec3(0.74, 0.79, 0.84), vec3(0.60, 0.61, 0.60), clamp(up * -6.0, 0.0, 1.0));
#ifdef FLOOR
    // Nothing but light and shadow: where things stand that have no ground of their own.
    if (way.z < 0.0) {
        float open = light_at(way * (floor_level.x / way.z));
        below *= mix(sqrt(sky_light.x), 1.0, open);
    }
#endif
    pixel = vec4(up < 0.0 ? below : above, 1.0);
#endif
}
"""

#: Names of programs, what they are made of, and what they define.
PROGRAMS = {
    "plain": (SOLID_VERTEX, SOLID_PIXEL, ""),
    "textured": (SOLID_VERTEX, SOLID_PIXEL, "#define TEXTURED\n"),
    "plain shadows": (SOLID_VERTEX, SOLID_PIXEL, "#define SHADOWS\n"),
    "textured shadows": (SOLID_VERTEX, SOLID_PIXEL, "#define SHADOWS\n#define TEXTURED\n"),
    "depth": (PLAIN_VERTEX, PLAIN_PIXEL, "#define VIEW view\n"),
    "near shadow": (PLAIN_VERTEX, PLAIN_PIXEL, "#define VIEW sun_near\n"),
    "far shadow": (PLAIN_VERTEX, PLAIN_PIXEL, "#define VIEW sun_far\n"),
    "sky": (SKY_VERTEX, SKY_PIXEL, ""),
    "sky floor": (SKY_VERTEX, SKY_PIXEL, "#define FLOOR\n"),
    "sky box": (SKY_VERTEX, SKY_PIXEL, "#define BOXED\n"),
}
