# The picture in README.md: angular velocity of the default scene in the racket's own axes.
#   build/release/rigor export out/tennis-racket.h5 --csv table.csv
#   gnuplot -e "table='table.csv'" docs/pictures/tennis-racket.gp | expand | sed "s/ *$//" > docs/pictures/tennis-racket.svg
set terminal svg size 820,300 font "sans-serif,13" background "#ffffff"
set datafile separator ","
set xlabel "time, s"
set ylabel "rad/s, in the racket's axes"
set key outside right
set grid lc rgb "#dddddd"
# R^T w for the quaternion (x, y, z, w) in columns 7 to 10 and w in columns 14 to 16
x(q1,q2,q3,q4,a,b,c) = (1-2*(q2*q2+q3*q3))*a + 2*(q1*q2+q4*q3)*b + 2*(q1*q3-q4*q2)*c
y(q1,q2,q3,q4,a,b,c) = 2*(q1*q2-q4*q3)*a + (1-2*(q1*q1+q3*q3))*b + 2*(q2*q3+q4*q1)*c
z(q1,q2,q3,q4,a,b,c) = 2*(q1*q3+q4*q2)*a + 2*(q2*q3-q4*q1)*b + (1-2*(q1*q1+q2*q2))*c
plot table skip 1 using 1:(x($7,$8,$9,$10,$14,$15,$16)) with lines lw 2 lc rgb "#d95f02" title "x", \
     table skip 1 using 1:(y($7,$8,$9,$10,$14,$15,$16)) with lines lw 2 lc rgb "#1b9e77" title "y", \
     table skip 1 using 1:(z($7,$8,$9,$10,$14,$15,$16)) with lines lw 2 lc rgb "#7570b3" title "z"
