// The gallery's algorithms as scalar CUDA C, the way a careful user writes them: one element per thread, the same
// blocks, shared tiles and launches as the kernels in examples/. Compiled by NVRTC with its default flags, so a * b + c
// contracts here by itself.
typedef unsigned char u8;
typedef unsigned int u32;
typedef long long i64;

extern "C" __global__ void copy_f32(const float *__restrict__ x, float *__restrict__ y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i];
}

extern "C" __global__ void shift_f32(const float *__restrict__ x, float *__restrict__ y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + 1.0f;
}

extern "C" __global__ void saxpy(float a, const float *__restrict__ x, float *__restrict__ y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

extern "C" __global__ void saxpy_float4(float a, const float4 *__restrict__ x, float4 *__restrict__ y, int quarter) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < quarter) {
        float4 u = x[i], v = y[i];
        v.x = a * u.x + v.x;
        v.y = a * u.y + v.y;
        v.z = a * u.z + v.z;
        v.w = a * u.w + v.w;
        y[i] = v;
    }
}

extern "C" __global__ void copy_float4(const float4 *__restrict__ x, float4 *__restrict__ y, int quarter) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < quarter) y[i] = x[i];
}

extern "C" __global__ void shift_float4(const float4 *__restrict__ x, float4 *__restrict__ y, int quarter) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < quarter) {
        float4 u = x[i];
        y[i] = make_float4(u.x + 1.0f, u.y + 1.0f, u.z + 1.0f, u.w + 1.0f);
    }
}

extern "C" __global__ void triad_float4(float s, const float4 *__restrict__ b, const float4 *__restrict__ c,
                                        float4 *__restrict__ a, int quarter) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < quarter) {
        float4 u = b[i], v = c[i];
        a[i] = make_float4(u.x + s * v.x, u.y + s * v.y, u.z + s * v.z, u.w + s * v.w);
    }
}

__device__ float link(float u, float v) {
    float d = u - v;
    return sqrtf(d * d + 1.0f) * 0.5f + u;
}

extern "C" __global__ void chain_float4(const float4 *__restrict__ x, const float4 *__restrict__ y,
                                        float4 *__restrict__ z, int quarter) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < quarter) {
        float4 u = x[i], v = y[i];
        z[i] = make_float4(link(u.x, v.x), link(u.y, v.y), link(u.z, v.z), link(u.w, v.w));
    }
}

extern "C" __global__ void triad(double s, const double *__restrict__ b, const double *__restrict__ c,
                                 double *__restrict__ a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] = b[i] + s * c[i];
}

extern "C" __global__ void triad_f32(float s, const float *__restrict__ b, const float *__restrict__ c,
                                     float *__restrict__ a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] = b[i] + s * c[i];
}

extern "C" __global__ void chain_f32(const float *__restrict__ x, const float *__restrict__ y, float *__restrict__ z,
                                     int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float d = x[i] - y[i];
        z[i] = sqrtf(d * d + 1.0f) * 0.5f + x[i];
    }
}

extern "C" __global__ void transpose(const float *__restrict__ x, float *__restrict__ y, int height, int width) {
    __shared__ float tile[32][33];
    int lx = threadIdx.x, ly = threadIdx.y;
    for (int k = 0; k < 32; k += 8) {
        int i = blockIdx.y * 32 + ly + k, j = blockIdx.x * 32 + lx;
        if (i < height && j < width) tile[ly + k][lx] = x[(size_t)i * width + j];
    }
    __syncthreads();
    for (int k = 0; k < 32; k += 8) {
        int i = blockIdx.x * 32 + ly + k, j = blockIdx.y * 32 + lx;
        if (i < width && j < height) y[(size_t)i * height + j] = tile[lx][ly + k];
    }
}

extern "C" __global__ void matmul_naive(const float *__restrict__ a, const float *__restrict__ b,
                                        float *__restrict__ c, int m, int inner, int n) {
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m || j >= n) return;
    float acc = 0;
    for (int k = 0; k < inner; k++) acc += a[i * inner + k] * b[k * n + j];
    c[i * n + j] = acc;
}

extern "C" __global__ void matmul_tiled(const float *__restrict__ a, const float *__restrict__ b,
                                        float *__restrict__ c, int m, int inner, int n) {
    __shared__ float ta[16][16], tb[16][16];
    int y = threadIdx.y, x = threadIdx.x, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
    float acc = 0;
    for (int t = 0; t < (inner + 15) / 16; t++) {
        ta[y][x] = row < m && t * 16 + x < inner ? a[row * inner + t * 16 + x] : 0.0f;
        tb[y][x] = t * 16 + y < inner && col < n ? b[(t * 16 + y) * n + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < 16; k++) acc += ta[y][k] * tb[k][x];
        __syncthreads();
    }
    if (row < m && col < n) c[row * n + col] = acc;
}

extern "C" __global__ void reduce_sum(const float *__restrict__ x, float *__restrict__ sums, int n) {
    __shared__ float tile[256];
    int t = threadIdx.x;
    float acc = 0;
    for (int k = 0; k < 4; k++) {
        int i = blockIdx.x * 1024 + k * 256 + t;
        if (i < n) acc += x[i];
    }
    tile[t] = acc;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half) tile[t] += tile[t + half];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = tile[0];
}

extern "C" __global__ void reduce_max(const float *__restrict__ x, float *__restrict__ maxima, int n) {
    __shared__ float tile[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    tile[t] = i < n ? x[i] : -__int_as_float(0x7f800000);
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half) {
            float a = tile[t], b = tile[t + half];
            tile[t] = a != a ? a : b != b ? b : fmaxf(a, b);
        }
        __syncthreads();
    }
    if (t == 0) maxima[blockIdx.x] = tile[0];
}

extern "C" __global__ void partial_dots(const float *__restrict__ x, const float *__restrict__ y,
                                        float *__restrict__ sums, int n) {
    __shared__ float tile[256];
    int t = threadIdx.x;
    float acc = 0;
    for (int k = 0; k < 4; k++) {
        int i = blockIdx.x * 1024 + k * 256 + t;
        if (i < n) acc += x[i] * y[i];
    }
    tile[t] = acc;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half) tile[t] += tile[t + half];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = tile[0];
}

extern "C" __global__ void total_of(const float *__restrict__ parts, float *__restrict__ total, int n) {
    __shared__ float tile[256];
    int t = threadIdx.x;
    float acc = 0;
    for (int i = t; i < n; i += 256) acc += parts[i];
    tile[t] = acc;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half) tile[t] += tile[t + half];
        __syncthreads();
    }
    if (t == 0) total[0] = tile[0];
}

extern "C" __global__ void scan_blocks(const int *__restrict__ x, int *__restrict__ y, int *__restrict__ totals,
                                       int n) {
    __shared__ int tile[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    int value = i < n ? x[i] : 0;
    tile[t] = value;
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        int add = t >= d ? tile[t - d] : 0;
        __syncthreads();
        value += add;
        tile[t] = value;
        __syncthreads();
    }
    if (i < n) y[i] = value;
    if (t == 255) totals[blockIdx.x] = value;
}

extern "C" __global__ void add_preceding(int *__restrict__ y, const int *__restrict__ totals, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int block = i / 256;
    if (i < n && block > 0) y[i] += totals[block - 1];
}

extern "C" __global__ void clear_i32(int *bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) bins[i] = 0;
}

extern "C" __global__ void histogram(const u8 *__restrict__ x, int *__restrict__ bins, int n) {
    __shared__ int local[256];
    int t = threadIdx.x;
    local[t] = 0;
    __syncthreads();
    for (int k = 0; k < 16; k++) {
        int i = blockIdx.x * 4096 + k * 256 + t;
        if (i < n) atomicAdd(&local[x[i]], 1);
    }
    __syncthreads();
    atomicAdd(&bins[t], local[t]);
}

extern "C" __global__ void histogram_i32(const int *__restrict__ x, int *__restrict__ bins, int n) {
    __shared__ int local[256];
    int t = threadIdx.x;
    local[t] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[x[i] & 255], 1);
    __syncthreads();
    atomicAdd(&bins[t], local[t]);
}

extern "C" __global__ void stencil(const float *__restrict__ x, float *__restrict__ y, int height, int width) {
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (0 < i && i < height - 1 && 0 < j && j < width - 1) {
        size_t at = (size_t)i * width + j;
        y[at] = 0.25f * (x[at - width] + x[at + width] + x[at - 1] + x[at + 1]);
    }
}

extern "C" __global__ void convolve(const float *__restrict__ x, const float *__restrict__ mask,
                                    float *__restrict__ y, int height, int width) {
    __shared__ float tile[20][20];
    int ly = threadIdx.y, lx = threadIdx.x;
    for (int t = ly * 16 + lx; t < 400; t += 256) {
        int row = min(max((int)blockIdx.y * 16 + t / 20 - 2, 0), height - 1);
        int column = min(max((int)blockIdx.x * 16 + t % 20 - 2, 0), width - 1);
        tile[t / 20][t % 20] = x[row * width + column];
    }
    __syncthreads();
    int i = blockIdx.y * 16 + ly, j = blockIdx.x * 16 + lx;
    if (i < height && j < width) {
        float acc = 0;
        for (int r = 0; r < 5; r++)
            for (int c = 0; c < 5; c++) acc += mask[r * 5 + c] * tile[ly + r][lx + c];
        y[i * width + j] = acc;
    }
}

extern "C" __global__ void life(const u8 *__restrict__ now, u8 *__restrict__ after, int height, int width) {
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= height || j >= width) return;
    int up = i > 0 ? i - 1 : height - 1, down = i < height - 1 ? i + 1 : 0;
    int left = j > 0 ? j - 1 : width - 1, right = j < width - 1 ? j + 1 : 0;
    int around = now[up * width + left] + now[up * width + j] + now[up * width + right] + now[i * width + left] +
                 now[i * width + right] + now[down * width + left] + now[down * width + j] +
                 now[down * width + right];
    after[i * width + j] = around == 3 || (around == 2 && now[i * width + j] == 1);
}

extern "C" __global__ void nbody(const float *__restrict__ x, const float *__restrict__ y,
                                 const float *__restrict__ z, const float *__restrict__ mass, float *__restrict__ ax,
                                 float *__restrict__ ay, float *__restrict__ az, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float xi = x[i], yi = y[i], zi = z[i], sx = 0, sy = 0, sz = 0;
    for (int j = 0; j < n; j++) {
        float dx = x[j] - xi, dy = y[j] - yi, dz = z[j] - zi;
        float square = dx * dx + (dy * dy + (dz * dz + 0.01f));
        float pull = mass[j] / (square * sqrtf(square));
        sx += dx * pull;
        sy += dy * pull;
        sz += dz * pull;
    }
    ax[i] = sx;
    ay[i] = sy;
    az[i] = sz;
}

extern "C" __global__ void mandelbrot(float left, float top, float step, int limit, int *__restrict__ count,
                                      int height, int width) {
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= height || j >= width) return;
    float cx = step * j + left, cy = step * i + top, x = 0, y = 0;
    int k = 0;
    while (k < limit && x * x + y * y <= 4.0f) {
        float shifted = x * x + (-y * y + cx);
        y = 2.0f * x * y + cy;
        x = shifted;
        k++;
    }
    count[i * width + j] = k;
}

__device__ void compare(u32 *keys, int low, int stride, bool rising) {
    u32 a = keys[low], b = keys[low + stride];
    keys[low] = rising ? min(a, b) : max(a, b);
    keys[low + stride] = rising ? max(a, b) : min(a, b);
}

extern "C" __global__ void sort_spans(u32 *__restrict__ x, int n) {
    __shared__ u32 keys[512];
    int t = threadIdx.x, base = blockIdx.x * 512;
    for (int k = 0; k < 2; k++)
        if (base + t + k * 256 < n) keys[t + k * 256] = x[base + t + k * 256];
    __syncthreads();
    for (int phase = 0; phase < 9; phase++)
        for (int step = 0; step <= phase; step++) {
            int stride = 1 << (phase - step);
            int low = 2 * stride * (t / stride) + t % stride;
            compare(keys, low, stride, (base + low) / (2 << phase) % 2 == 0);
            __syncthreads();
        }
    for (int k = 0; k < 2; k++)
        if (base + t + k * 256 < n) x[base + t + k * 256] = keys[t + k * 256];
}

extern "C" __global__ void exchange(u32 *__restrict__ x, i64 length, i64 stride, int n) {
    i64 t = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n / 2) return;
    i64 low = 2 * stride * (t / stride) + t % stride;
    if (low + stride < n) {
        u32 a = x[low], b = x[low + stride];
        bool rising = low / length % 2 == 0;
        x[low] = rising ? min(a, b) : max(a, b);
        x[low + stride] = rising ? max(a, b) : min(a, b);
    }
}

extern "C" __global__ void merge_spans(u32 *__restrict__ x, i64 length, int n) {
    __shared__ u32 keys[512];
    int t = threadIdx.x, base = blockIdx.x * 512;
    for (int k = 0; k < 2; k++)
        if (base + t + k * 256 < n) keys[t + k * 256] = x[base + t + k * 256];
    __syncthreads();
    for (int step = 0; step < 9; step++) {
        int stride = 256 >> step;
        int low = 2 * stride * (t / stride) + t % stride;
        compare(keys, low, stride, (base + low) / length % 2 == 0);
        __syncthreads();
    }
    for (int k = 0; k < 2; k++)
        if (base + t + k * 256 < n) x[base + t + k * 256] = keys[t + k * 256];
}

extern "C" __global__ void spmv(const int *__restrict__ pointers, const int *__restrict__ columns,
                                const float *__restrict__ values, const float *__restrict__ x,
                                float *__restrict__ y, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float acc = 0;
    for (int k = pointers[row]; k < pointers[row + 1]; k++) acc += values[k] * x[columns[k]];
    y[row] = acc;
}

extern "C" __global__ void floyd(float *distance, int middle, int n) {
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || j >= n || i == middle || j == middle) return;
    distance[i * n + j] = fminf(distance[i * n + j], distance[i * n + middle] + distance[middle * n + j]);
}

extern "C" __global__ void butterflies(const float *__restrict__ re, const float *__restrict__ im,
                                       const float *__restrict__ cosines, const float *__restrict__ sines,
                                       float *__restrict__ to_re, float *__restrict__ to_im, i64 stride, int half) {
    i64 t = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= half) return;
    i64 p = t / stride, q = t % stride, low = q + 2 * stride * p;
    float a_re = re[t], a_im = im[t], b_re = re[t + half], b_im = im[t + half];
    float d_re = a_re - b_re, d_im = a_im - b_im, c = cosines[stride * p], s = sines[stride * p];
    to_re[low] = a_re + b_re;
    to_im[low] = a_im + b_im;
    to_re[low + stride] = d_re * c - d_im * s;
    to_im[low + stride] = d_re * s + d_im * c;
}

extern "C" __global__ void throw_darts(u32 seed, int *__restrict__ found, i64 *__restrict__ hits, int n) {
    __shared__ int tile[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, inside = 0;
    if (i < n) {
        for (u32 dart = 0; dart < 32; dart++) {
            u32 left = dart, right = i, bump = seed;
            for (int round = 0; round < 10; round++) {
                u32 high = __umulhi(left, 0xD256D193u), low = left * 0xD256D193u;
                left = high ^ bump ^ right;
                right = low;
                bump += 0x9E3779B9u;
            }
            float x = (left >> 8) * 0x1p-24f, y = (right >> 8) * 0x1p-24f;
            if (x * x + y * y < 1.0f) inside++;
        }
        found[i] = inside;
    }
    tile[t] = inside;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half) tile[t] += tile[t + half];
        __syncthreads();
    }
    if (t == 0) atomicAdd((unsigned long long *)hits, (unsigned long long)tile[0]);
}

extern "C" __global__ void gauss_seidel(float *u, const float *__restrict__ f, float spacing2, int colour, int height,
                                        int width) {
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (0 < i && i < height - 1 && 0 < j && j < width - 1 && (i + j) % 2 == colour) {
        int at = i * width + j;
        float around = u[at - width] + u[at + width] + u[at - 1] + u[at + 1];
        u[at] = 0.25f * (-spacing2 * f[at] + around);
    }
}

extern "C" __global__ void grey(const u8 *__restrict__ photo, float *__restrict__ light, u8 *__restrict__ shade,
                                int height, int width) {
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= height || j >= width) return;
    const u8 *pixel = photo + 3 * (i * width + j);
    float value = 0.299f * pixel[0] + (0.587f * pixel[1] + 0.114f * pixel[2]);
    light[i * width + j] = value;
    shade[i * width + j] = (u8)fminf(fmaxf(rintf(value), 0.0f), 255.0f);
}

__constant__ float weights[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};

extern "C" __global__ void blur_rows(const float *__restrict__ x, float *__restrict__ y, int height, int width) {
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= height || j >= width) return;
    float acc = 0;
    for (int k = 0; k < 5; k++) acc += weights[k] * x[i * width + min(max(j + k - 2, 0), width - 1)];
    y[i * width + j] = acc;
}

extern "C" __global__ void blur_columns(const float *__restrict__ x, float *__restrict__ y, int height, int width) {
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= height || j >= width) return;
    float acc = 0;
    for (int k = 0; k < 5; k++) acc += weights[k] * x[min(max(i + k - 2, 0), height - 1) * width + j];
    y[i * width + j] = acc;
}

extern "C" __global__ void sobel(const float *__restrict__ x, u8 *__restrict__ edges, int height, int width) {
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= height || j >= width) return;
    int up = max(i - 1, 0) * width, here = i * width, down = min(i + 1, height - 1) * width;
    int left = max(j - 1, 0), right = min(j + 1, width - 1);
    float dx = 2.0f * (x[here + right] - x[here + left]) +
               ((x[up + right] - x[up + left]) + (x[down + right] - x[down + left]));
    float dy = 2.0f * (x[down + j] - x[up + j]) + ((x[down + left] - x[up + left]) + (x[down + right] - x[up + right]));
    edges[here + j] = (u8)fminf(sqrtf(dx * dx + dy * dy), 255.0f);
}

extern "C" __global__ void count_shades(const u8 *__restrict__ shade, int *__restrict__ bins, int height, int width) {
    __shared__ int local[256];
    int t = threadIdx.y * 32 + threadIdx.x;
    local[t] = 0;
    __syncthreads();
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < height && j < width) atomicAdd(&local[shade[i * width + j]], 1);
    __syncthreads();
    atomicAdd(&bins[t], local[t]);
}

extern "C" __global__ void spread(const int *__restrict__ bins, u8 *__restrict__ level) {
    __shared__ int tile[256];
    int t = threadIdx.x, value = bins[t];
    tile[t] = value;
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        int add = t >= d ? tile[t - d] : 0;
        __syncthreads();
        value += add;
        tile[t] = value;
        __syncthreads();
    }
    i64 total = tile[255];
    level[t] = (u8)(((i64)value * 255 + total / 2) / (total > 1 ? total : 1));
}

extern "C" __global__ void equalise(const u8 *__restrict__ shade, const u8 *__restrict__ level, u8 *__restrict__ result,
                                    int height, int width) {
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < height && j < width) result[i * width + j] = level[shade[i * width + j]];
}

extern "C" __global__ void empty_launch(float a, const float *x, float *y, int n) {}
