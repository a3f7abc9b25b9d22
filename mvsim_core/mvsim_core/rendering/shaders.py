# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The programs that run for each corner and each pixel.

Image rows count downwards here, so that pixels are read in the order of an image message.
"""

SOLID_VERTEX = """
#version 450 core
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec2 texcoord;
layout(location = 3) in vec4 color;
layout(location = 4) in mat4 place;
uniform mat4 view;
uniform mat4 sun_view;
out vec3 n; out vec2 uv; out vec4 tint; out vec3 at; out vec3 in_sun;
void main() {
    vec4 world = place * vec4(position, 1.0);
    n = mat3(place) * normal;
    uv = texcoord; tint = color; at = world.xyz;
    in_sun = (sun_view * world).xyz;
    gl_Position = view * world;
}
"""

SOLID_PIXEL = """
#version 450 core
in vec3 n; in vec2 uv; in vec4 tint; in vec3 at; in vec3 in_sun;
layout(location = 0) out vec4 pixel;
uniform sampler2D image;
uniform sampler2DShadow shadow;
uniform int shadows;
uniform vec3 sun; uniform vec3 sun_color; uniform float ambient;
void main() {
    vec3 normal = normalize(n);
    if (dot(normal, at) > 0.0) normal = -normal;  // the eye is at the origin
    float facing = dot(normal, sun);
    float lit = max(facing, 0.0);
    if (shadows != 0 && lit > 0.0 && all(lessThan(abs(in_sun), vec3(1.0)))) {
        vec3 p = in_sun * 0.5 + 0.5;
        float steep = min(sqrt(1.0 - facing * facing) / facing, 12.0);
        lit *= texture(shadow, vec3(p.xy, p.z - 0.0004 * (1.0 + steep)));
    }
    // What the sun does not reach is shaded by how far it faces up.
    float sky = ambient * (0.85 + 0.15 * normal.z + 0.15 * dot(normal.xy, sun.xy + sun.yx));
    vec4 base = tint * texture(image, uv);
    vec3 light = sky + (1.0 - 0.5 * ambient) * lit * sun_color;
    pixel = vec4(min(base.rgb * light, 1.0), tint.a);
}
"""

SHADOW_VERTEX = """
#version 450 core
layout(location = 0) in vec3 position;
layout(location = 4) in mat4 place;
uniform mat4 sun_view;
void main() {
    vec4 p = sun_view * place * vec4(position, 1.0);
    gl_Position = vec4(p.xy, p.z * 0.5 + 0.5, 1.0);
}
"""

SHADOW_PIXEL = """
#version 450 core
void main() {}
"""

SKY_VERTEX = """
#version 450 core
uniform mat3 ways;
out vec3 way;
void main() {
    vec2 p = vec2(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0);
    way = ways * vec3(p, 1.0);
    gl_Position = vec4(p, 0.0, 1.0);
}
"""

SKY_PIXEL = """
#version 450 core
in vec3 way;
layout(location = 0) out vec4 pixel;
uniform samplerCube sky;
uniform int boxed;
void main() {
    // A cube is looked at along z with x to the right and y up, as if by a left-handed frame.
    if (boxed != 0) { pixel = vec4(texture(sky, vec3(-way.y, way.z, way.x)).rgb, 1.0); return; }
    float up = normalize(way).z;
    vec3 above = mix(vec3(0.78, 0.86, 0.94), vec3(0.36, 0.56, 0.86), clamp(up * 1.6, 0.0, 1.0));
    pixel = vec4(up < 0.0 ? vec3(0.62, 0.63, 0.62) : above, 1.0);
}
"""
